import numpy
numpy.ones((1 << 36,))
