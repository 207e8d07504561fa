import json
import multiprocessing
import sys


def square(n):
    return n * n


if __name__ == "__main__":
    with multiprocessing.Pool(2) as pool:
        json.dump(pool.map(square, range(5)), open(sys.argv[1], "w"))
