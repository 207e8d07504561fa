import warnings

import numpy as np

warnings.warn("shown", UserWarning)
warnings.warn("shown in main", DeprecationWarning)
warnings.warn("above the top", stacklevel=2)
warnings.warn("far above the top", stacklevel=9)
np.log(np.array([0.0]))
print(np.array([1.0]) / 0)
for _ in range(3):
    warnings.warn("once per line")
print([(f[0], f[2].__name__, f[4]) for f in warnings.filters])
