import sys

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.signal import savgol_filter

x = np.arange(9.0)
spline = CubicSpline(x, np.sin(x))
open(sys.argv[1], "w").write(repr([spline(2.5).round(9).item(), savgol_filter(np.sin(x), 5, 2).round(9).tolist()]))
