import threading
import time

threading.Thread(target=time.sleep, args=(30,), daemon=True).start()
print("not waited for")
