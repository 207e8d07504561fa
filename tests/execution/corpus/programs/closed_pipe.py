import os, signal
r, w = os.pipe()
os.close(r)
try:
    os.write(w, b'x')
except OSError as error:
    print(error)
