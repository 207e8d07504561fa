import atexit
atexit._clear()
print('still written')
