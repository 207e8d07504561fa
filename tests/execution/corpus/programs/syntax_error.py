import json

values = (1,
print("never"
