import sys

print(__name__, __file__, __doc__, __spec__, __package__, type(__loader__).__name__, __builtins__)
print(sorted(globals()), sys.argv, sys.orig_argv[1:], sys.path[0], sys.flags, sys.dont_write_bytecode)
print(sys.gettrace(), sys.getprofile(), sys.exc_info(), hasattr(sys, "ps1"), hasattr(sys, "last_value"))
