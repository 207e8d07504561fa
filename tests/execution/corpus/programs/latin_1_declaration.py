# -*- coding: latin-1 -*-
print('café'.encode('utf-8'))
