import atexit
import gc
import os
import sys
import threading

os._exit = atexit._run_exitfuncs = threading._shutdown = gc.collect = lambda *arguments: 1 / 0
open(sys.argv[1], "w").write("{}")
