import argparse
import sys

parser = argparse.ArgumentParser()
parser.add_argument("output", help="where to")
print(parser.parse_args().output)
parser.parse_args(["--help"])
