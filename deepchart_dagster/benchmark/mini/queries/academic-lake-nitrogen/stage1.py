"""Reference: nitrogen on its way through a lake, mean of three years by way in and way out, tonnes a year."""

import json
import statistics
import sys
from pathlib import Path

SRC = {
    "Streams": {
        "Outflow": [46.4, 51.2, 42.1],
        "Sediment": [20.7, 18.6, 18.6],
        "Air": [14.6, 12.7, 12.5],
    },
    "Groundwater": {
        "Outflow": [18.6, 19.3, 17.5],
        "Air": [11.6, 10.0, 10.6],
        "Plants": [6.5, 6.0, 5.9],
    },
    "Rain": {
        "Sediment": [4.8, 5.5, 5.5],
        "Air": [4.2, 4.3, 3.8],
        "Plants": [3.1, 3.2, 3.3],
    },
}

flows = {source: {sink: statistics.mean(years) for sink, years in sinks.items()} for source, sinks in SRC.items()}
by_sink = {}
for sinks in flows.values():
    for sink, flow in sinks.items():
        by_sink[sink] = by_sink.get(sink, 0) + flow
by_source = {source: sum(sinks.values()) for source, sinks in flows.items()}
DER = {
    "mean_flow": flows,
    "total_by_source": by_source,
    "total_by_sink": by_sink,
    "share_removed_percent": 100 * (1 - by_sink["Outflow"] / sum(by_source.values())),
}

Path(sys.argv[1]).write_text(json.dumps({"src_data": SRC, "der_data": DER}), encoding="utf-8")
