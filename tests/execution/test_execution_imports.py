"""Which libraries a fork server has ready for a program."""

from __future__ import annotations

import subprocess
import sys

import pytest

from deepchart_dagster.execution.sandbox.imports import HEAVY, LIGHT, import_set


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("", ()),
        ("import math, sys", ()),
        ("import json, sys", ("json",)),
        ("import csv\nimport json\nimport re", ("csv", "json")),
        ("from datetime import date\nfrom statistics import fmean", ("datetime", "statistics")),
        ("import json\nimport numpy as np", ("numpy",)),
        ("import sys\nsys.path.insert(0, 'lib')\nimport json", ()),
        ("import numpy as np", ("numpy",)),
        ("import pandas as pd\nimport numpy as np", ("pandas",)),
        ("import matplotlib", ("matplotlib",)),
        ("import matplotlib.pyplot as plt", ("matplotlib.pyplot",)),
        ("from matplotlib import pyplot as plt", ("matplotlib.pyplot",)),
        ("from matplotlib.ticker import FuncFormatter", ("matplotlib",)),
        ("import matplotlib\nmatplotlib.use('Agg')\nimport matplotlib.pyplot as plt", ("matplotlib.pyplot",)),
        ("import matplotlib as mpl\nmpl.use('agg')\nimport pandas", ("matplotlib", "pandas")),
        ("from scipy import stats", ("scipy.stats",)),
        ("from scipy.stats import norm", ("scipy.stats",)),
        ("from scipy.spatial import ConvexHull", ("scipy",)),
        ("import seaborn as sns\nimport pandas\nimport scipy.stats\nimport matplotlib.pyplot", ("seaborn",)),
        ("from PIL import Image, ImageDraw", ("PIL.Image",)),
        ('"""Doc."""\nfrom __future__ import annotations\nA = [1, -2]\nimport numpy', ("numpy",)),
        ("def f():\n    import seaborn\nimport numpy", ("numpy",)),
        ("import warnings\nwarnings.filterwarnings('ignore')\nimport pandas", ("pandas",)),
        ("from . import numpy", ()),
    ],
)
def test_the_heavy_libraries_are_those_that_are_named(source: str, expected: tuple[str, ...]) -> None:
    assert import_set(source) == expected


@pytest.mark.parametrize(
    "statement",
    [
        "import sys\nsys.path.insert(0, 'lib')",
        "import os\nos.environ['MPLBACKEND'] = 'svg'",
        "import matplotlib\nmatplotlib.use('TkAgg')",
        "import warnings\nwarnings.filterwarnings('error')",
        "open('pandas.py', 'w').write('1')",
        "A = open('pandas.py', 'w')",
        "import sys\nsys.modules['pandas'] = None",
        "if True:\n    pass",
        "@print\ndef f(): pass",
        "class A:\n    print()",
        "(lambda: 1)()",
        "import numpy; numpy.x = 3",
        "import numpy; numpy.seterr(all='raise')",
    ],
)
def test_nothing_is_ready_that_a_statement_before_its_import_could_change(statement: str) -> None:
    assert "pandas" not in import_set(f"{statement}\nimport pandas")


@pytest.mark.parametrize("source", ["import numpy\n1 +", "import numpy\n\0", "(" * 100_000, "\udcff"])
def test_what_cannot_be_parsed_needs_nothing(source: str) -> None:
    assert import_set(source) == ()


@pytest.mark.slow
@pytest.mark.parametrize("name", [*HEAVY, *LIGHT])
def test_a_library_brings_along_what_it_is_said_to(name: str) -> None:
    """What it brings is left out of a set, so it must be there; what it does not bring must not be."""
    code = f"import {name}, sys; print(*sys.modules)"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    libraries = HEAVY if name in HEAVY else LIGHT
    assert libraries[name] == (libraries.keys() & set(shown)) - {name}
