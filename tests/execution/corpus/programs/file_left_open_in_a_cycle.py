import json
import sys


class Writer:
    def __init__(self):
        self.me = self
        self.out = open(sys.argv[1], "w")
        json.dump([1, 2, 3], self.out)


Writer()
