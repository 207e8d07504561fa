import sys

names = set(sys.modules)
print(sorted(name for name in names if name.split(".")[0] in ("json", "re", "enum", "ctypes", "socket", "struct", "signal", "select", "resource", "keeper", "numpy")))
print(sys.path, [type(finder).__name__ if not isinstance(finder, type) else finder.__name__ for finder in sys.meta_path][-3:])
