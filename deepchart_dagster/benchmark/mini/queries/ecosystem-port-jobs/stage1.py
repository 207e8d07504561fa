"""Reference: twelve ports, jobs for each company and capital of 2024 for each job (EUR thousand)."""

import json
import sys
from pathlib import Path

SRC = {
    "Aveiro": {"capital_2024": 61.7, "companies": 58, "jobs": 1240},
    "Bremerhaven": {"capital_2024": 128.5, "companies": 112, "jobs": 4870},
    "Brest": {"capital_2024": 143.2, "companies": 109, "jobs": 3950},
    "Burgas": {"capital_2024": 16.9, "companies": 33, "jobs": 690},
    "Cork": {"capital_2024": 88.4, "companies": 71, "jobs": 2180},
    "Esbjerg": {"capital_2024": 214.6, "companies": 97, "jobs": 5320},
    "Gdynia": {"capital_2024": 97.8, "companies": 103, "jobs": 3410},
    "Ostend": {"capital_2024": 79.3, "companies": 56, "jobs": 1760},
    "Piraeus": {"capital_2024": 52.8, "companies": 86, "jobs": 2930},
    "Rijeka": {"capital_2024": 29.4, "companies": 41, "jobs": 980},
    "Trieste": {"capital_2024": 69.1, "companies": 54, "jobs": 2240},
    "Vigo": {"capital_2024": 105.9, "companies": 118, "jobs": 4260},
}

DER = {
    port: {
        "jobs_per_company": facts["jobs"] / facts["companies"],
        "capital_per_job_thousand": 1000 * facts["capital_2024"] / facts["jobs"],
    }
    for port, facts in SRC.items()
}

Path(sys.argv[1]).write_text(json.dumps({"src_data": SRC, "der_data": DER}), encoding="utf-8")
