import matplotlib
import matplotlib.pyplot as plt
print(matplotlib.get_backend(), plt.get_backend(), plt.isinteractive(), plt.get_fignums())
