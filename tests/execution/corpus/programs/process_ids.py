import os

print(os.getpid(), os.getppid() < os.getpid(), os.getsid(0) == os.getpid(), os.getuid(), os.getgroups())
