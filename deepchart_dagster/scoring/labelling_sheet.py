"""A sheet of charts and questions for a person: a folder with CSV and pictures, and one page that needs nothing else.

<folder>/sheet.csv      to fill in with a spreadsheet; names the pictures in charts/
<folder>/sheet.html     the same in a browser, from disk: keeps its state, exports its answers as the same CSV
<folder>/charts/<id>.png
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from deepchart_dagster.artifacts.canonical import content_hash
from deepchart_dagster.artifacts.files import new_folder, write_bytes, write_text
from deepchart_dagster.errors import UsageError
from deepchart_dagster.scoring.human_labels import FORMULA_SIGNS, SHEET_COLUMNS, SheetItem, check_annotator, sheet_csv
from deepchart_dagster.scoring.validation_subset import SubsetStore, ValidationSubset

_TEMPLATE = Path(__file__).with_name("labelling_sheet.html.j2")


@dataclass(frozen=True)
class SheetWriter:
    """Writes sheets of one benchmark's subset."""

    subsets: SubsetStore
    subset: ValidationSubset

    def write(self, folder: Path, annotator: str, items: Sequence[SheetItem]) -> None:
        """Make ``folder`` with a sheet of ``items``, in their order.

        Raises UsageError where it is there already, or for an annotator whose labels could not be kept.
        """
        check_annotator(annotator)
        if folder.exists():
            raise UsageError(f"{folder} is there already.", remedy="Give a new folder: a sheet may hold answers.")
        pictures = {
            item.chart.id: self.subsets.chart(self.subset.benchmark, item.chart)
            for item in {item.chart.id: item for item in items}.values()
        }
        with new_folder(folder) as temporary:
            write_text(temporary / "sheet.csv", sheet_csv(items))
            write_text(temporary / "sheet.html", self._page(annotator, items, pictures))
            for name, data in pictures.items():
                write_bytes(temporary / "charts" / f"{name}.png", data)

    def _page(self, annotator: str, items: Sequence[SheetItem], pictures: dict[str, bytes]) -> str:
        import jinja2

        environment = jinja2.Environment(
            autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
        )
        return environment.from_string(_TEMPLATE.read_text(encoding="utf-8")).render(
            annotator=annotator,
            # Answers that the browser keeps belong to exactly these items.
            sheet=content_hash([annotator, *(item.id for item in items)])[-16:],
            columns=SHEET_COLUMNS,
            formula_signs=FORMULA_SIGNS,
            charts=[
                {"id": chart, "uri": _data_uri(pictures[chart]), "items": list(group)}
                for chart, group in groupby(items, key=lambda item: item.chart.id)
            ],
            n_items=len(items),
        )


def _data_uri(png: bytes) -> str:
    return f"data:image/png;base64,{base64.b64encode(png).decode()}"
