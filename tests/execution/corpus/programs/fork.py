import os
import sys

pid = os.fork()
if pid == 0:
    print("child")
    sys.exit(3)
print(os.waitpid(pid, 0)[1])
