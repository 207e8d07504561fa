words = {'a', 'b', 'c'}
print(sorted(words), hash(1.5), hash((1, 2)))
