import copy
import dataclasses
import inspect
import os
import pickle
import sys


@dataclasses.dataclass(order=True)
class Row:
    name: str
    value: float = 0.5


row = Row("a")
assert pickle.loads(pickle.dumps(row)) == row == copy.deepcopy(row)
assert sys.modules["__main__"].Row is Row
print(row, Row.__module__, inspect.getsource(Row), inspect.getfile(Row), os.path.basename(__file__))
