import argparse

parser = argparse.ArgumentParser(description="Makes a table.")
parser.add_argument("output")
parser.add_argument("--input", required=True)
parser.parse_args()
