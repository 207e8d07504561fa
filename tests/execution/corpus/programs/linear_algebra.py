import sys

import numpy as np

a = np.random.default_rng(0).random((200, 200))
open(sys.argv[1], "w").write(repr(np.linalg.svd(a)[1][:6].round(7).tolist() + [round(float(np.linalg.det(a[:5, :5])), 9)]))
