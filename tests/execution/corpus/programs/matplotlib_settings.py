import matplotlib as m
print(sorted((k, str(v)) for k, v in dict.items(m.rcParams) if k != 'datapath'))
