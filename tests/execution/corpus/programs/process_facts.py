import os
import resource

print(os.getsid(0) == os.getpid(), os.umask(0), sorted(os.listdir("/proc/self/fd"))[:3])
print([resource.getrlimit(getattr(resource, name)) for name in ("RLIMIT_AS", "RLIMIT_NOFILE", "RLIMIT_NPROC", "RLIMIT_CORE", "RLIMIT_FSIZE")])
print(os.path.realpath("/proc/self/exe"), os.access("/etc/passwd", os.R_OK), os.getpriority(os.PRIO_PROCESS, 0))
