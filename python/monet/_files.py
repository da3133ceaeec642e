"""Files and folders that results are written to."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from monet.errors import Error

_OF_FOLDER = "result.json"


def write(path: str | os.PathLike[str], content: str | bytes) -> None:
    try:
        Path(path).write_bytes(content.encode() if isinstance(content, str) else content)
    except OSError as error:
        raise Error(
            f"cannot be written: {error.strerror}", place=os.fspath(path), advice="name a file in a folder that exists"
        ) from None


def make_folder(path: str | os.PathLike[str]) -> Path:
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Error(f"cannot be made: {error.strerror}", place=os.fspath(path), advice="name another folder") from None
    return folder


def write_all(folder: str | os.PathLike[str], files: Iterable[tuple[str, str | bytes]]) -> Path:
    """Files by name and content, in a folder that is made where there is none."""
    made = make_folder(folder)
    for name, content in files:
        write(made / name, content)
    return made


def text_beside(result: Path | None, name: str) -> str | None:
    """What a file of the same folder says; of a folder only result.json has such files."""
    if result is None or result.name != _OF_FOLDER or not (result.parent / name).is_file():
        return None
    return (result.parent / name).read_text(encoding="utf-8")


@contextmanager
def as_input(result: Path, text: str) -> Iterator[str]:
    """The path of a result as the library takes it, which looks for more in the folder: `text` is put into one of its
    own where the folder's files belong to another result."""
    if result.name == _OF_FOLDER:
        yield str(result)
        return
    with tempfile.TemporaryDirectory(prefix="monet-") as scratch:
        write(Path(scratch, result.name), text)
        yield str(Path(scratch, result.name))
