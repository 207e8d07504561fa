import pickle
pickle.loads(b'cbuiltins\nexit\n(I12\ntR.')
