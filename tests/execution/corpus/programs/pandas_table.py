import io
import json
import sys

import pandas as pd

table = pd.read_csv(io.StringIO("year,segment,value\n2020,A,1\n2020,B,2\n2021,A,3\n2021,B,4\n"))
pivot = table.pivot(index="year", columns="segment", values="value")
der = pivot.pct_change().dropna().round(4).to_dict("index")
json.dump({"src_data": table.to_dict("records"), "der_data": {str(k): v for k, v in der.items()}}, open(sys.argv[1], "w"))
