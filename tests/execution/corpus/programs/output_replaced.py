import sys
sys.stdout = open(sys.argv[1], 'w')
print('[3]')
