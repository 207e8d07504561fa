"""Reference: mean size of a round of 2024 in twelve ports, capital divided by rounds (EUR million), ranked."""

import json
import sys
from pathlib import Path

SRC = {
    "Aveiro": {"capital_2024": 61.7, "rounds": 14},
    "Bremerhaven": {"capital_2024": 128.5, "rounds": 27},
    "Brest": {"capital_2024": 143.2, "rounds": 31},
    "Burgas": {"capital_2024": 16.9, "rounds": 8},
    "Cork": {"capital_2024": 88.4, "rounds": 23},
    "Esbjerg": {"capital_2024": 214.6, "rounds": 36},
    "Gdynia": {"capital_2024": 97.8, "rounds": 25},
    "Ostend": {"capital_2024": 79.3, "rounds": 17},
    "Piraeus": {"capital_2024": 52.8, "rounds": 19},
    "Rijeka": {"capital_2024": 29.4, "rounds": 11},
    "Trieste": {"capital_2024": 69.1, "rounds": 16},
    "Vigo": {"capital_2024": 105.9, "rounds": 28},
}

sizes = {port: facts["capital_2024"] / facts["rounds"] for port, facts in SRC.items()}
ordered = sorted(sizes, key=lambda port: sizes[port], reverse=True)
overall = sum(facts["capital_2024"] for facts in SRC.values()) / sum(facts["rounds"] for facts in SRC.values())
DER = {
    "mean_round": {port: sizes[port] for port in ordered},
    "mean_round_of_all": overall,
    "share_of_capital_percent": {
        port: 100 * SRC[port]["capital_2024"] / sum(facts["capital_2024"] for facts in SRC.values()) for port in ordered
    },
}

Path(sys.argv[1]).write_text(json.dumps({"src_data": SRC, "der_data": DER}), encoding="utf-8")
