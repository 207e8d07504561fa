import sys
print('x')
sys.exit(None)
