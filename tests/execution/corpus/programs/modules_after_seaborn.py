import seaborn, sys
print(sorted(n for n in sys.modules if n != 'sitecustomize'))
