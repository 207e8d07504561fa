import sys
sys.exit(10**30)
