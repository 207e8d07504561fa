import importlib, json
print(importlib.reload(json) is json)
