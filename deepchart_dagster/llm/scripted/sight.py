"""What a scripted model sees of the messages it is sent: texts, marked lines, and the chart in the picture."""

from __future__ import annotations

from deepchart_dagster.llm.model import ImagePart, TextPart
from deepchart_dagster.llm.scripted.base import ScriptedRequest
from deepchart_dagster.llm.scripted.drawing import Drawing, read_drawing


def lines_of(request: ScriptedRequest) -> list[str]:
    """Every line of every text part, stripped, in order."""
    parts = [part for message in request.messages for part in message.parts]
    return [line.strip() for part in parts if isinstance(part, TextPart) for line in part.text.splitlines()]


def line_after(request: ScriptedRequest, marker: str) -> str | None:
    """What follows ``marker`` on the last line that begins with it; None where no line does."""
    found = [line.removeprefix(marker).strip() for line in lines_of(request) if line.startswith(marker)]
    return found[-1] if found else None


def chart_seen(request: ScriptedRequest) -> Drawing | None:
    """The drawing behind the last picture; None without a picture or where nothing is known of its bytes."""
    images = [part for message in request.messages for part in message.parts if isinstance(part, ImagePart)]
    if not images:
        return None
    return read_drawing(request.evidence.get("drawn", images[-1].sha256))
