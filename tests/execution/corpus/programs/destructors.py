class Loud:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        print("gone:", self.name)


a, b = Loud("a"), Loud("b")
_c = Loud("_c")
cycle = Loud("cycle")
cycle.me = cycle


def use():
    return a


print("end")
