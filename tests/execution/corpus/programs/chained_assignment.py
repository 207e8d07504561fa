import pandas as pd
frame = pd.DataFrame({'a': [1, 2]})
frame['a'][0] = 5
print(frame)
