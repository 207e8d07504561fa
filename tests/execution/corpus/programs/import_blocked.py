import sys
sys.modules['numpy'] = None
import numpy
