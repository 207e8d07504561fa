"""What containers start from. Nothing is ever pulled: an image is made here, or must be there.

Without an image of the user's, a skeleton is imported: empty folders, a few files of /etc and nothing to run. This
machine's /usr, interpreter and virtual environment are shown in it, read-only, so a program meets the very files that
the other tiers show. That needs an engine that sees this machine's files.

For one that does not (another machine's, or the pipeline itself runs in a container) the user names an image that
holds the same Python and libraries; the keeper is put on top of it.
"""

from __future__ import annotations

import hashlib
import io
import tarfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from deepchart_dagster.execution.sandbox.container import owner
from deepchart_dagster.execution.sandbox.container.engine import LABEL, OWNER_LABEL, Engine, EngineError, engine_errors
from deepchart_dagster.execution.sandbox.keeper import contained

if TYPE_CHECKING:
    from docker.types import Mount

NAME = "deepchart-programs"
USER_ID = 60000  # programs' user and group in containers
_SYSTEM_FOLDERS = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_ETC_FILES = ("ld.so.cache", "localtime", "mime.types")
_ETC_FOLDERS = ("/etc/fonts", "/etc/alternatives")
_START_AGENT = "import sys; sys.path.insert(0, sys.argv[1]); from keeper.agent import serve; serve()"
_EMPTY_FOLDERS = ("dev", "etc", "proc", "sys", "usr")


@dataclass(frozen=True)
class Image:
    """``python`` is what the container starts; ``own_python`` says that programs are to run with the image's."""

    name: str
    python: str
    own_python: bool
    mounts: tuple[Mount, ...] = ()

    def command(self) -> list[str]:
        return [self.python, "-I", "-S", "-X", "utf8", "-c", _START_AGENT, contained.CODE]


@dataclass(frozen=True)
class Host:
    """What of this machine a container needs: folders of ours, and those of the interpreter beyond /usr."""

    code: Path
    inside: Path
    interpreter: str
    readable: tuple[str, ...]


def prepare(engine: Engine, named: str | None, host: Host) -> Image:
    """Makes the image where it is not there. Raises EngineError."""
    return _with_keeper(engine, named, host) if named else _skeleton(engine, host)


def _skeleton(engine: Engine, host: Host) -> Image:
    content = _tar(_skeleton_entries())
    name = _name(content)
    if not _is_there(engine, name):
        with engine_errors(engine.address):
            engine.api.import_image_from_data(content, name, changes=[f"LABEL {LABEL}=skeleton"])
    return Image(name, host.interpreter, False, tuple(_mounts(host)))


def _with_keeper(engine: Engine, named: str, host: Host) -> Image:
    base = _image_id(engine, named)
    if not base:
        raise EngineError(
            f"the container engine at {engine.address} has no image {named!r}; build or load it there (none is pulled)"
        )
    code, inside = _tree(host.code, contained.CODE), _tree(host.inside, contained.PLACE.inside)
    content = _tar([*_program_folders(), *code, *inside])
    name = _name(base.encode() + content)
    if not _is_there(engine, name):
        _commit(engine, base, content, name)
    return Image(name, "python3", True)


def _commit(engine: Engine, base: str, content: bytes, name: str) -> None:
    labels = {LABEL: "making an image", OWNER_LABEL: owner.this_process()}
    with engine_errors(engine.address):
        made = engine.api.create_container(base, command=["true"], labels=labels)["Id"]
        try:
            engine.api.put_archive(made, "/", content)
            engine.api.commit(made, name, changes=[f"LABEL {LABEL}=keeper {OWNER_LABEL}="])
        finally:
            engine.remove(made)


def _name(content: bytes) -> str:
    """Without a tag, which not every engine takes with an import."""
    return f"{NAME}-{hashlib.sha256(content).hexdigest()[:16]}"


def _is_there(engine: Engine, name: str) -> bool:
    return bool(_image_id(engine, name))


def _image_id(engine: Engine, name: str) -> str:
    """Empty where the engine has no image of that name."""
    from docker.errors import ImageNotFound

    with engine_errors(engine.address):
        try:
            return str(engine.api.inspect_image(name)["Id"])  # type: ignore[no-untyped-call]
        except ImageNotFound:
            return ""


def _mounts(host: Host) -> Iterator[Mount]:
    from docker.types import Mount

    system = [path for path in _SYSTEM_FOLDERS if Path(path).is_dir() and not Path(path).is_symlink()]
    shown = {place for path in host.readable for place in (path, str(Path(path).resolve()))}
    beyond = [path for path in sorted(shown) if Path(path).exists() and not f"{path}/".startswith("/usr/")]
    etc = [path for path in _ETC_FOLDERS if Path(path).is_dir()]
    for path in ("/usr", *system, *beyond, *etc):
        yield Mount(path, path, type="bind", read_only=True)
    for source, target in ((host.code, contained.CODE), (host.inside, contained.PLACE.inside)):
        yield Mount(target, str(source.resolve()), type="bind", read_only=True)


_Entry = tuple[tarfile.TarInfo, bytes]


def _skeleton_entries() -> Iterator[_Entry]:
    for name in (*_EMPTY_FOLDERS, "tmp"):
        yield _folder(name)
    yield from _program_folders()
    for path in map(Path, _SYSTEM_FOLDERS):
        if path.is_symlink():
            link = tarfile.TarInfo(path.name)
            link.type, link.linkname = tarfile.SYMTYPE, str(path.readlink())
            yield link, b""
    for name in _ETC_FILES:
        if Path("/etc", name).is_file():
            yield _file(f"etc/{name}", Path("/etc", name).read_bytes())
    yield _file("etc/passwd", f"program:x:{USER_ID}:{USER_ID}::{contained.PLACE.work}:/bin/false\n".encode())
    yield _file("etc/group", f"program:x:{USER_ID}:\n".encode())


def _program_folders() -> Iterator[_Entry]:
    for path in (contained.HOME, contained.CODE, contained.PLACE.inside, *contained.WRITABLE):
        if path.startswith(contained.HOME):
            yield _folder(path.lstrip("/"))


def _tree(folder: Path, target: str) -> Iterator[_Entry]:
    """Without compiled files, which differ from one time to the next."""
    for path in sorted(folder.rglob("*")):
        if "__pycache__" in path.parts:
            continue
        name = f"{target}/{path.relative_to(folder)}".lstrip("/")
        yield _folder(name) if path.is_dir() else _file(name, path.read_bytes())


def _folder(name: str) -> _Entry:
    entry = tarfile.TarInfo(name)
    entry.type, entry.mode = tarfile.DIRTYPE, 0o755
    return entry, b""


def _file(name: str, content: bytes) -> _Entry:
    entry = tarfile.TarInfo(name)
    entry.mode, entry.size = 0o644, len(content)
    return entry, content


def _tar(entries: Iterable[_Entry]) -> bytes:
    """The same bytes for the same entries: no times, no owners but root."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for entry, content in entries:
            archive.addfile(entry, io.BytesIO(content))
    return out.getvalue()
