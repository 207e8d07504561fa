import os
import sys

os.mkdir("lib")
open("lib/pandas.py", "w").write("print('mine')")
sys.path.insert(0, "lib")
import pandas

print(pandas.__file__)
