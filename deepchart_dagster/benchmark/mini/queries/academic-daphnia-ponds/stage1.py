"""Reference: odds ratio of infection with and without copper, by pond and pooled over ponds (fixed effect)."""

import json
import math
import sys
from pathlib import Path

Z = 1.959964
SRC = {
    "Alder pond": {"copper_examined": 112, "copper_infected": 46, "clean_examined": 118, "clean_infected": 28},
    "Brick pond": {"copper_examined": 96, "copper_infected": 33, "clean_examined": 101, "clean_infected": 28},
    "Mill pond": {"copper_examined": 143, "copper_infected": 66, "clean_examined": 137, "clean_infected": 34},
    "Quarry pond": {"copper_examined": 74, "copper_infected": 18, "clean_examined": 81, "clean_infected": 18},
    "Reed pond": {"copper_examined": 128, "copper_infected": 48, "clean_examined": 122, "clean_infected": 28},
    "Vicar’s pond": {"copper_examined": 89, "copper_infected": 31, "clean_examined": 94, "clean_infected": 30},
}


def effect(log_ratio, variance):
    error = math.sqrt(variance)
    ends = (log_ratio - Z * error, log_ratio + Z * error)
    return {"odds_ratio": math.exp(log_ratio), "ci_low": math.exp(ends[0]), "ci_high": math.exp(ends[1])}


estimates = {}
for pond, n in SRC.items():
    copper_healthy = n["copper_examined"] - n["copper_infected"]
    clean_healthy = n["clean_examined"] - n["clean_infected"]
    log_ratio = math.log(n["copper_infected"] * clean_healthy / (copper_healthy * n["clean_infected"]))
    variance = 1 / n["copper_infected"] + 1 / copper_healthy + 1 / n["clean_infected"] + 1 / clean_healthy
    estimates[pond] = (log_ratio, variance)

DER = {pond: effect(*estimate) for pond, estimate in estimates.items()}
weight = sum(1 / variance for _, variance in estimates.values())
pooled = sum(log_ratio / variance for log_ratio, variance in estimates.values()) / weight
DER["All ponds"] = effect(pooled, 1 / weight)

Path(sys.argv[1]).write_text(json.dumps({"src_data": SRC, "der_data": DER}), encoding="utf-8")
