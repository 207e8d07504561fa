"""One stretch of memory for the objects of the libraries that are about to be imported.

Python takes memory for objects in arenas of 1 MiB, and the kernel puts each into the first gap between the libraries
that has come along by then. In one stretch they make large pages (linux.use_large_pages), of which a fork copies the
entries, and its end removes them, hundreds at a time.
"""

from __future__ import annotations

from . import linux

_ARENA_BYTES = 1 << 20
_BLOCK_BYTES = 512  # the largest that comes out of an arena
_BLOCK = _BLOCK_BYTES - 34  # of a bytes object that takes one
_PINS_PER_ARENA = 4
_IN_A_ROW = 4
_MOST_GAPS = 512


def hold(count: int) -> list[bytes]:
    """``count`` arenas side by side, nearly empty: to be filled while what is returned is kept."""
    gaps = _fill_gaps()
    blocks: list[bytes] = [b""] * (count * _ARENA_BYTES // _BLOCK_BYTES)  # a list that grew would come to lie between
    for number in range(len(blocks)):
        blocks[number] = bytes(_BLOCK)
    for start in gaps:
        linux.give_addresses_back(start, _ARENA_BYTES)
    pins = {id(block) * _PINS_PER_ARENA // _ARENA_BYTES: block for block in blocks}
    return list(pins.values())


def _fill_gaps() -> list[int]:
    """Until what is taken comes from the open, a piece below the other."""
    taken: list[int] = []
    in_a_row = 0
    while in_a_row < _IN_A_ROW and len(taken) < _MOST_GAPS and (start := linux.take_addresses(_ARENA_BYTES)):
        in_a_row = in_a_row + 1 if taken and taken[-1] - start == _ARENA_BYTES else 0
        taken.append(start)
    return taken
