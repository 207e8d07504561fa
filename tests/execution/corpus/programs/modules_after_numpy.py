import sys
import numpy
print(sorted(n for n in sys.modules if n != 'sitecustomize'))
