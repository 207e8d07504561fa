import os
import pathlib
import shutil
import sys

os.makedirs("sub/x", exist_ok=True)
pathlib.Path("sub/x/a.txt").write_text("[1]")
shutil.copy("sub/x/a.txt", sys.argv[1])
os.chdir("sub")
print(sorted(str(path) for path in pathlib.Path("..").rglob("*")), oct(os.stat(".").st_mode))
