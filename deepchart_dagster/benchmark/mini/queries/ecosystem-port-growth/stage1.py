"""Reference: capital of twelve ports in 2020 and 2024 (EUR million), growth in percent, ranks in both years."""

import json
import sys
from pathlib import Path

SRC = {
    "Aveiro": {"capital_2020": 18.4, "capital_2024": 61.7},
    "Bremerhaven": {"capital_2020": 96.3, "capital_2024": 128.5},
    "Brest": {"capital_2020": 74.8, "capital_2024": 143.2},
    "Burgas": {"capital_2020": 9.7, "capital_2024": 16.9},
    "Cork": {"capital_2020": 52.6, "capital_2024": 88.4},
    "Esbjerg": {"capital_2020": 88.1, "capital_2024": 214.6},
    "Gdynia": {"capital_2020": 33.5, "capital_2024": 97.8},
    "Ostend": {"capital_2020": 61.9, "capital_2024": 79.3},
    "Piraeus": {"capital_2020": 44.2, "capital_2024": 52.8},
    "Rijeka": {"capital_2020": 12.3, "capital_2024": 29.4},
    "Trieste": {"capital_2020": 57.4, "capital_2024": 69.1},
    "Vigo": {"capital_2020": 41.8, "capital_2024": 105.9},
}


def ranks(year):
    ordered = sorted(SRC, key=lambda port: SRC[port][year], reverse=True)
    return {port: place for place, port in enumerate(ordered, start=1)}


before, after = ranks("capital_2020"), ranks("capital_2024")
DER = {
    port: {
        "growth_percent": 100 * (capital["capital_2024"] / capital["capital_2020"] - 1),
        "rank_2020": before[port],
        "rank_2024": after[port],
        "places_gained": before[port] - after[port],
    }
    for port, capital in SRC.items()
}

Path(sys.argv[1]).write_text(json.dumps({"src_data": SRC, "der_data": DER}), encoding="utf-8")
