print(exit, quit, copyright, sep='|')
print(type(help))
