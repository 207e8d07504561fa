"""Reference: what became of the companies of five cohorts, shares in percent over three coasts."""

import json
import sys
from pathlib import Path

SRC = {
    "northern": {
        "2010-2012": {"Independent": 21, "Bought": 17, "Listed": 6, "Closed": 34},
        "2013-2015": {"Independent": 34, "Bought": 19, "Listed": 5, "Closed": 38},
        "2016-2018": {"Independent": 57, "Bought": 22, "Listed": 4, "Closed": 35},
        "2019-2021": {"Independent": 83, "Bought": 14, "Listed": 2, "Closed": 27},
        "2022-2024": {"Independent": 96, "Bought": 5, "Listed": 1, "Closed": 9},
    },
    "western": {
        "2010-2012": {"Independent": 15, "Bought": 13, "Listed": 3, "Closed": 29},
        "2013-2015": {"Independent": 27, "Bought": 16, "Listed": 4, "Closed": 31},
        "2016-2018": {"Independent": 44, "Bought": 18, "Listed": 2, "Closed": 30},
        "2019-2021": {"Independent": 72, "Bought": 11, "Listed": 1, "Closed": 23},
        "2022-2024": {"Independent": 88, "Bought": 4, "Listed": 0, "Closed": 12},
    },
    "southern": {
        "2010-2012": {"Independent": 11, "Bought": 7, "Listed": 1, "Closed": 25},
        "2013-2015": {"Independent": 18, "Bought": 10, "Listed": 2, "Closed": 28},
        "2016-2018": {"Independent": 32, "Bought": 9, "Listed": 1, "Closed": 26},
        "2019-2021": {"Independent": 53, "Bought": 8, "Listed": 0, "Closed": 24},
        "2022-2024": {"Independent": 67, "Bought": 3, "Listed": 0, "Closed": 14},
    },
}

DER = {}
for cohort in SRC["northern"]:
    totals = {state: sum(coast[cohort][state] for coast in SRC.values()) for state in SRC["northern"][cohort]}
    DER[cohort] = {state: 100 * n / sum(totals.values()) for state, n in totals.items()}

Path(sys.argv[1]).write_text(json.dumps({"src_data": SRC, "der_data": DER}), encoding="utf-8")
