import sys
sys.stdout.reconfigure(encoding='latin-1', errors='replace')
print('é €')
