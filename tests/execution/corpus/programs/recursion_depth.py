depth = 0


def down():
    global depth
    depth += 1
    down()


try:
    down()
except RecursionError as error:
    print(depth, error)
