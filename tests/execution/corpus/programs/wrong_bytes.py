print('café')
