import sys, threading
t = threading.Thread(target=sys.exit, args=(9,))
t.start()
t.join()
print('on')
