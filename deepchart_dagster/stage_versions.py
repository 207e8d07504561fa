"""The version of each stage's rules: in the input keys of its instances, and the code version that Dagster shows.

Bump one when what the stage makes of the same inputs changes; every stored result of it is stale then. They stand apart
from the stages so that loading the asset graph does not load what computes it.
"""

from __future__ import annotations

RAW_DOCUMENT_VERSION = "2"
OCR_CONTEXT_VERSION = "4"
CONTEXT_VARIANT_VERSION = "2"
REFERENCE_VERSION = "2"
RUBRIC_VERSION = "1"
STATE_VERSION = 1
CHART_VERSION = 3
FIDELITY_VERSION = "2"
DIAGNOSIS_VERSION = "1"
GROUNDING_VERSION = "1"
DRAWN_FIDELITY_VERSION = "2"
EXECUTION_VERSION = "1"
CALIBRATION_VERSION = "1"
VISUAL_ACCURACY_VERSION = "1"
ROWS_VERSION = 5
REPORT_VERSION = "5"
JUDGE_STUDY_VERSION = "1"
