import os
print(sorted(os.environ.items()), os.getcwd(), os.listdir())
