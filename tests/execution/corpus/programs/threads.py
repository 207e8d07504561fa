import sys
import threading
import time


def write():
    time.sleep(0.1)
    with open(sys.argv[1], "w") as out:
        out.write("[1]")


threading.Thread(target=write).start()
print(threading.current_thread().name, threading.active_count() >= 1)
