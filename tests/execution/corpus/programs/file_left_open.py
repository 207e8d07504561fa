import json
import sys

out = open(sys.argv[1], "w")
json.dump({"a": list(range(5000))}, out)
