import os

import matplotlib

print(matplotlib.get_configdir(), matplotlib.get_cachedir(), matplotlib.matplotlib_fname(), sorted(os.listdir(os.environ["MPLCONFIGDIR"]))[0][:9])
