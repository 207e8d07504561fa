import matplotlib
import pandas as pd
print(pd.__name__)
matplotlib.pyplot.figure()
