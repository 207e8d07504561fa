def parse(text):
    try:
        return int(text)
    except ValueError as error:
        raise RuntimeError("cannot read the value") from error


try:
    parse("x")
except RuntimeError:
    raise KeyError("and then this")
