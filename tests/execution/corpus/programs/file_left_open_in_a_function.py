import sys


def write(kept=[]):
    kept.append(open(sys.argv[1], "wb"))
    kept[0].write(b"[1]")


write()
