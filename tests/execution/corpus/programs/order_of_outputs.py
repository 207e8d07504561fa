import os, sys
print('a')
os.write(1, b'b\n')
sys.stdout.flush()
print('c')
