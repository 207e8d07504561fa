"""Arabic-Indic digits in the order in which they are read: MuPDF turns them round with the words beside them.

Numbers run from left to right in Arabic too; MuPDF hands over ١٢٣ as ٣٢١. (Persian digits, U+06F0 and on, it leaves.)
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from deepchart_dagster.contexts.words import Word

# With what stands within a number: the marks of decimals (U+066B) and thousands (U+066C), and ours.
_NUMBER = re.compile("[\u0660-\u0669](?:[\u0660-\u0669\u066b\u066c.,]*[\u0660-\u0669])")


def with_digits_in_order(words: Sequence[Word]) -> list[Word]:
    """``words`` of a text layer, numbers of Arabic-Indic digits the way they are shown."""
    if not any(_NUMBER.search(word.text) for word in words if not word.text.isascii()):
        return list(words)
    return [replace(word, text=_NUMBER.sub(lambda found: found.group()[::-1], word.text)) for word in words]
