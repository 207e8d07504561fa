import re
print(re.findall('\d+', 'a1b22'))
print('\w')
