"""The first process of a container of the tier `container`: gives each program it is sent to a keeper of its own.

One program at a time. After each, everything but this process is ended and every folder that can be written is
emptied, so that the next program finds the container as the first one did. When stdin ends, the pipeline that asked
is gone: this process ends, and the container with it. It also ends when it has waited for IDLE_S, because an engine
that is killed leaves its containers behind, with a stdin that never ends.

It says "ready", then answers each request (request.py; its bytes are the font list, after its length, and the
source) with a length, whether the container is as new, and the keeper's report.
"""

from __future__ import annotations

import math
import os
import select
import signal
import struct
import sys
import traceback
from pathlib import Path
from typing import NamedTuple, NoReturn

from . import contained, linux, main
from .files import remove_tree, write_all
from .processes import reap_all
from .request import Request, pack_request, read_request

READY = b"ready"
IDLE_S = 120
ANSWER = struct.Struct("=Q?")
FONTS = struct.Struct("=Q")
_CHUNK = 1 << 16
_FIRST_OWN_DESCRIPTOR, _LAST_DESCRIPTOR = 3, 4096


def serve() -> None:
    for number in (signal.SIGTERM, signal.SIGALRM):  # without handlers, a first process gets no signals
        signal.signal(number, lambda *_: os._exit(0))
    os.umask(0o022)
    linux.hide_memory()
    _answer(READY, as_new=True)
    with open(0, "rb", closefd=False) as asked:
        while True:
            signal.alarm(IDLE_S)
            try:
                request, payload = read_request(asked)
            except struct.error:  # the end
                return
            signal.alarm(math.ceil(request.wall_s) + IDLE_S)
            report = _hold(_here(request), payload)
            _end_all_others()
            _answer(report, as_new=_empty_folders())


def _here(request: Request) -> Request:
    """The interpreter of an image with its own is the one that runs this."""
    if request.interpreter:
        return request
    places = {sys.prefix, sys.base_prefix, str(Path(sys.executable).parent.parent)}
    return request._replace(interpreter=sys.executable, readable=tuple(sorted(places - {"/"})))


def _hold(request: Request, payload: bytes) -> bytes:
    """What the keeper reported; empty where it died."""
    (length,) = FONTS.unpack_from(payload)
    fonts, source = payload[FONTS.size : FONTS.size + length], payload[FONTS.size + length :]
    if request.font_list:
        Path(contained.PLACE.config, request.font_list).write_bytes(fonts)
    pipes = _Pipes(*os.pipe(), *os.pipe())
    if os.fork() == 0:
        _become_keeper(pipes)
    os.close(pipes.asked)
    os.close(pipes.report)
    try:
        write_all(pipes.ask, pack_request(request._replace(font_list=None), source))
        return _report(pipes.reported)
    except BrokenPipeError:
        return b""
    finally:
        os.close(pipes.ask)
        os.close(pipes.reported)


class _Pipes(NamedTuple):
    """Two pipes: the keeper reads ``asked`` and writes ``report``, this process has the other ends."""

    asked: int
    ask: int
    reported: int
    report: int


def _become_keeper(pipes: _Pipes) -> NoReturn:
    try:
        os.dup2(pipes.asked, 0)
        os.dup2(pipes.report, 1)
        os.closerange(_FIRST_OWN_DESCRIPTOR, _LAST_DESCRIPTOR)
        for number in (signal.SIGTERM, signal.SIGALRM):
            signal.signal(number, signal.SIG_DFL)
        main.main()
        os._exit(0)
    except BaseException:  # noqa: BLE001 - it must not run on as a second first process
        traceback.print_exc()
    finally:
        os._exit(1)


def _report(reported: int) -> bytes:
    """Everything up to the end. Ends this process, and so all others, when the one who asked goes away meanwhile."""
    poll = select.poll()
    poll.register(0, select.POLLIN)
    poll.register(reported, select.POLLIN)
    report = bytearray()
    while True:
        for descriptor, _ in poll.poll():
            if descriptor == 0:
                os._exit(0)
            chunk = os.read(reported, _CHUNK)
            if not chunk:
                return bytes(report)
            report += chunk


def _end_all_others() -> None:
    try:
        os.kill(-1, signal.SIGKILL)
    except ProcessLookupError:
        return
    finally:
        reap_all()


def _empty_folders() -> bool:
    """Whether nothing is left in any of them."""
    for folder in map(Path, contained.WRITABLE):
        folder.chmod(0o700)
        remove_tree(folder)  # of the mount itself it can only remove what is in it
    return not any(entry for folder in contained.WRITABLE for entry in Path(folder).iterdir())


def _answer(message: bytes, *, as_new: bool) -> None:
    write_all(1, ANSWER.pack(len(message), as_new) + message)
