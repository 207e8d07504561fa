import sys
print('x')
sys.modules.clear()
