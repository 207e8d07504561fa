import os
import sys

print(sys.stdin, sys.stdin.read() == "", sys.stdin.isatty())
try:
    os.write(0, b"x")
except OSError as error:
    print(error)
input("asked: ")
