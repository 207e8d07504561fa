import os
import subprocess
import sys

done = subprocess.run([sys.executable, "-c", "import sys, numpy; print(numpy.arange(3)); print(sys.path[1:])"], capture_output=True, text=True)
print(done.stdout, done.stderr, done.returncode)
print(subprocess.run(["sh", "-c", "echo $HOME $PYTHONPATH; exit 3"], capture_output=True, text=True))
print(os.system("exit 2"))
