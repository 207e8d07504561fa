"""Dagster's pools: how many runs may do work of a kind at once. A run holds a place in each pool of its steps.

Calls in flight at one provider are held by the domain, across processes (``providers`` in models.yaml): a pool knows
assets and not which model a partition is for. Limits are set when the UI first starts, and are the user's to change
there (Deployment, Concurrency).
"""

MODEL_CALLS = "model_calls"
JUDGE_CALLS = "judge_calls"
CHARTS = "charts"
OCR = "ocr"
TABLES = "tables"

# Calls wait for others. Charts take a browser and a core for each program, an OCR engine gigabytes; there is one store.
LIMITS = {MODEL_CALLS: 8, JUDGE_CALLS: 8, CHARTS: 4, OCR: 1, TABLES: 1}
