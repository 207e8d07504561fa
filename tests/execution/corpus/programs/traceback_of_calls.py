import json


def outer(values):
    return inner({**values})


def inner(values):
    return values["no such key"]


outer(json.loads("{}"))
