import os
import sys
import tempfile

os.environ["MPLCONFIGDIR"] = tempfile.mkdtemp()
import matplotlib
import matplotlib.pyplot as plt

print(matplotlib.get_configdir() == os.environ["MPLCONFIGDIR"])
plt.plot([1])
plt.savefig(sys.argv[1])
