import sys

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import curve_fit


def hill(dose, top, half, slope):
    return top / (1 + (half / dose) ** slope)


dose = np.array([0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30])
response = np.array([2, 5, 12, 27, 51, 74, 89, 95])
(top, half, slope), _ = curve_fit(hill, dose, response, p0=[100, 1, 1])
fine = np.logspace(-2, 1.6, 200)
plt.semilogx(dose, response, "ko", fine, hill(fine, top, half, slope), "b-")
plt.axvline(half, ls="--", c="grey")
plt.annotate(f"EC50 = {half:.2f}", (half, top / 2), xytext=(3, 20), arrowprops={"arrowstyle": "->"})
plt.savefig(sys.argv[1])
