import os
print('lost in the buffer', end='')
os._exit(8)
