open('numpy.py', 'w').write('who = 5')
import numpy
print(numpy.who)
