import os, sys
os.mkdir('d')
os.chdir('d')
open(sys.argv[1], 'w').write('[1]')
