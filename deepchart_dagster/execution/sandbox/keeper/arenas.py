"""Where in memory the objects of libraries lie, and those that come after them.

Python takes memory for objects in arenas of 1 MiB, and the kernel puts each into the first gap between the libraries
that has come along by then. In one stretch they make large pages (linux.use_large_pages), of which a fork copies the
entries, and its end removes them, hundreds at a time.

New objects come into what is free between the old ones. Where nothing is, they lie together, and a program that makes
many writes to few pages.
"""

from __future__ import annotations

from . import linux

_ARENA_BYTES = 1 << 20
_BLOCK_BYTES = 512  # the largest that comes out of an arena
_BLOCK = _BLOCK_BYTES - 34  # of a bytes object that takes one
_PINS_PER_ARENA = 4
_IN_A_ROW = 6
_MOST_GAPS = 512
_POOL_BYTES, _POOL_HEADER_BYTES = 1 << 14, 48
_HEADER = 33  # bytes of a bytes object beside its own
_ALIGNMENT = 16
_MOST_HOLES = 1 << 16
_LARGEST_HOLE, _FINE_HOLE = 1 << 16, 1040


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


def fill_holes() -> list[bytes]:
    """What is returned takes the room between the objects that there are, and must be kept."""
    kept = [b""] * _MOST_HOLES  # a list that grew would take of that room itself
    count = _fill_above_arenas(kept)
    count = _fill_arenas(kept, count)
    return kept[:count]


def _fill_above_arenas(kept: list[bytes]) -> int:
    """What is too large for an arena comes from the C library: from holes first, then from above all there is."""
    count, size = 0, _LARGEST_HOLE
    top = id(bytes(size))
    while size > _BLOCK_BYTES:
        block = bytes(size - _HEADER)
        if id(block) >= top or count == len(kept):
            size = min(size - _ALIGNMENT, size * 3 // 4) if size > _FINE_HOLE else size - _ALIGNMENT
        else:
            kept[count] = block
            count += 1
    return count


def _fill_arenas(kept: list[bytes], count: int) -> int:
    """Until several come one after the other from the first place of a pool on: that pool is new."""
    for size in range(_BLOCK_BYTES, _HEADER, -_ALIGNMENT):
        before = in_new_pool = 0
        while count < len(kept) and in_new_pool < _IN_A_ROW:
            kept[count] = block = bytes(size - _HEADER)
            count += 1
            if id(block) % _POOL_BYTES == _POOL_HEADER_BYTES:
                in_new_pool = 1
            elif id(block) == before + size and in_new_pool:
                in_new_pool += 1
            else:
                in_new_pool = 0
            before = id(block)
    return count
