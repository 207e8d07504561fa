"""Reference: fourteen cities ranked by funding in 2024 (EUR million) and by number of engineers."""

import json
import sys
from pathlib import Path

SRC = {
    "Aarhus": {"funding": 212.4, "engineers": 9840},
    "Bergen": {"funding": 148.7, "engineers": 7260},
    "Copenhagen": {"funding": 934.6, "engineers": 38700},
    "Espoo": {"funding": 641.8, "engineers": 33150},
    "Gothenburg": {"funding": 388.2, "engineers": 41900},
    "Helsinki": {"funding": 715.3, "engineers": 29480},
    "Linköping": {"funding": 176.5, "engineers": 18320},
    "Lund": {"funding": 467.9, "engineers": 14570},
    "Oslo": {"funding": 503.1, "engineers": 35220},
    "Oulu": {"funding": 131.8, "engineers": 22760},
    "Reykjavik": {"funding": 98.3, "engineers": 4930},
    "Stockholm": {"funding": 1482.7, "engineers": 62400},
    "Tampere": {"funding": 119.6, "engineers": 19880},
    "Trondheim": {"funding": 257.4, "engineers": 12640},
}


def ranks(measure):
    ordered = sorted(SRC, key=lambda city: SRC[city][measure], reverse=True)
    return {city: position for position, city in enumerate(ordered, start=1)}


by_funding, by_engineers = ranks("funding"), ranks("engineers")
DER = {
    city: {
        "rank_by_funding": by_funding[city],
        "rank_by_engineers": by_engineers[city],
        "rank_gap": by_funding[city] - by_engineers[city],
    }
    for city in SRC
}

Path(sys.argv[1]).write_text(json.dumps({"src_data": SRC, "der_data": DER}), encoding="utf-8")
