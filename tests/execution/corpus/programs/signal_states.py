import signal

print([(name.name, signal.getsignal(name)) for name in (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE, signal.SIGXFSZ, signal.SIGHUP, signal.SIGCHLD)])
print(signal.pthread_sigmask(signal.SIG_BLOCK, []))
