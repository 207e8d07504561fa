print(len(str(10 ** 4000)))
str(10 ** 5000)
