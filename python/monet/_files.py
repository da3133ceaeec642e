"""Files and folders that results are written to."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from monet import _core
from monet.errors import Error

_OF_FOLDER = "result.json"
_UNFINISHED = ".unfinished"


def write(path: str | os.PathLike[str], content: str | bytes) -> None:
    """A file that is there stays until the new one is complete."""
    staged = _staged(Path(path), content)
    if staged is not None:
        _publish(staged, Path(path))


def _staged(path: Path, content: str | bytes) -> Path | None:
    """The content on the disk, beside its place under another name; None: its place is no ordinary file (a pipe, a
    device), and it is written there already."""
    data = content.encode() if isinstance(content, str) else content
    target = Path(os.path.realpath(path))
    try:
        if target.exists() and not target.is_file():
            path.write_bytes(data)
            return None
        # A file that may not be written to is not replaced either.
        mode = _mode_for(target)
        number, name = tempfile.mkstemp(prefix=f"{target.name}.", dir=target.parent)
        try:
            with os.fdopen(number, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(number)
                os.fchmod(number, mode)
        except BaseException:
            os.unlink(name)
            raise
    except OSError as error:
        raise _cannot_be_written(path, error) from None
    return Path(name)


def _mode_for(target: Path) -> int:
    if target.exists():
        with target.open("ab"):
            return target.stat().st_mode & 0o7777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _publish(staged: Path, path: Path) -> None:
    try:
        os.replace(staged, os.path.realpath(path))
    except OSError as error:
        staged.unlink(missing_ok=True)
        raise _cannot_be_written(path, error) from None


def _cannot_be_written(path: Path, error: OSError) -> Error:
    return Error(
        f"cannot be written: {error.strerror}", place=os.fspath(path), advice="name a file in a folder that exists"
    )


def make_folder(path: str | os.PathLike[str]) -> Path:
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Error(f"cannot be made: {error.strerror}", place=os.fspath(path), advice="name another folder") from None
    return folder


def write_all(folder: str | os.PathLike[str], files: Iterable[tuple[str, str | bytes]]) -> Path:
    """Files by name and content, in a folder that is made where there is none. None of them takes its name before all
    are complete."""
    made = make_folder(folder)
    staged: list[tuple[Path, Path]] = []
    try:
        for name, content in files:
            other = _staged(made / name, content)
            if other is not None:
                staged.append((other, made / name))
        # Left behind, it says that the files are of two runs.
        unfinished = made / _UNFINISHED
        write(unfinished, b"")
        while staged:
            _publish(*staged.pop(0))
        unfinished.unlink(missing_ok=True)
    finally:
        for other, _ in staged:
            other.unlink(missing_ok=True)
    return made


def check_finished(result: Path) -> None:
    """Fails where the files of a result's folder are of two runs."""
    if result.name == _OF_FOLDER and (result.parent / _UNFINISHED).exists():
        raise Error(
            "its files are of two runs: monet was ended while it replaced them",
            place=str(result.parent), advice="make it again with `save` or `-o`",
        )


def text_beside(result: Path | None, name: str) -> str | None:
    """What a file of the same folder says; of a folder only result.json has such files."""
    if result is None or result.name != _OF_FOLDER or not (result.parent / name).is_file():
        return None
    return (result.parent / name).read_text(encoding="utf-8")


def as_input(result: Path, text: str) -> _core.NamedResult:
    """A result that was read, as the library takes it: from its folder, or its text where the folder's other files
    belong to another result."""
    if result.name == _OF_FOLDER:
        return _core.NamedResult(str(result))
    return _core.NamedResult(str(result), text)
