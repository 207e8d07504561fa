import numpy as np
print(np.geterr(), np.get_printoptions())
np.show_config()
