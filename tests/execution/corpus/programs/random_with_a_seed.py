import random

import numpy as np

random.seed(4)
np.random.seed(4)
print(random.random(), np.random.rand(), np.random.default_rng(4).random(), random.Random(1).sample(range(99), 3))
