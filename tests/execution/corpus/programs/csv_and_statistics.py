import csv
import json
import statistics
import sys
from collections import Counter, defaultdict

rows = list(csv.DictReader("k,v\na,1\nb,2\na,3\n".splitlines()))
groups = defaultdict(list)
for row in rows:
    groups[row["k"]].append(float(row["v"]))
out = {"means": {k: statistics.mean(v) for k, v in groups.items()}, "counts": Counter(r["k"] for r in rows)}
json.dump(out, open(sys.argv[1], "w"))
