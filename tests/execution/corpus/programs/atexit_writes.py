import atexit
import sys


@atexit.register
def write():
    with open(sys.argv[1], "w") as out:
        out.write("[7]")


atexit.register(print, "first")
