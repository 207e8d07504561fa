import json
import sys

revenue = {"2020": 10.5, "2021": 12.25}
growth = {year: round(value / 10.5 - 1, 4) for year, value in revenue.items()}
with open(sys.argv[1], "w") as out:
    json.dump({"src_data": revenue, "der_data": growth}, out, indent=2)
