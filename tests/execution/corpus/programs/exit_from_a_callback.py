import atexit, sys
atexit.register(sys.exit, 6)
print('ends')
