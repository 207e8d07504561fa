"""Reference: patents granted in 2024 for a thousand engineers, fourteen cities, and the place that gives them."""

import json
import sys
from pathlib import Path

SRC = {
    "Aarhus": {"patents": 61, "engineers": 9840},
    "Bergen": {"patents": 50, "engineers": 7260},
    "Copenhagen": {"patents": 500, "engineers": 38700},
    "Espoo": {"patents": 469, "engineers": 33150},
    "Gothenburg": {"patents": 431, "engineers": 41900},
    "Helsinki": {"patents": 178, "engineers": 29480},
    "Linköping": {"patents": 226, "engineers": 18320},
    "Lund": {"patents": 169, "engineers": 14570},
    "Oslo": {"patents": 284, "engineers": 35220},
    "Oulu": {"patents": 335, "engineers": 22760},
    "Reykjavik": {"patents": 51, "engineers": 4930},
    "Stockholm": {"patents": 909, "engineers": 62400},
    "Tampere": {"patents": 188, "engineers": 19880},
    "Trondheim": {"patents": 124, "engineers": 12640},
}

rates = {city: 1000 * facts["patents"] / facts["engineers"] for city, facts in SRC.items()}
ordered = sorted(rates, key=lambda city: rates[city], reverse=True)
DER = {city: {"patents_per_1000_engineers": rates[city], "rank": ordered.index(city) + 1} for city in SRC}

Path(sys.argv[1]).write_text(json.dumps({"src_data": SRC, "der_data": DER}), encoding="utf-8")
