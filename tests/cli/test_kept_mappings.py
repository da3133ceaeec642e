"""Mappings that the program keeps in the user's cache folder: they change no answer, and one may do without."""

import json
import os
import subprocess
from pathlib import Path

import pytest

COMMAND = ["map", "resnet18-cifar-folded", "--hardware", "edge_tpu", "--json"]


def run(monet: Path, folder: Path, *options: str, **environment: str) -> dict:
    without = {name: value for name, value in os.environ.items() if name != "MONET_NO_CACHE"}
    done = subprocess.run(
        [monet, *COMMAND, *options],
        env=without | {"XDG_CACHE_HOME": str(folder)} | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def without_counts(value):
    """All but how many mappings were costed on the way."""
    if isinstance(value, dict):
        return {name: without_counts(each) for name, each in value.items() if name != "mappings"}
    return [without_counts(each) for each in value] if isinstance(value, list) else value


def test_second_run_finds_what_the_first_has_kept(monet: Path, tmp_path: Path) -> None:
    first = run(monet, tmp_path)
    (kept,) = (tmp_path / "monet").iterdir()
    assert 0 < kept.stat().st_blocks * 512 < 64 << 20
    second = run(monet, tmp_path)
    # What would come back with other last digits is not kept.
    assert second["mappings"] < first["mappings"] / 10
    assert without_counts(second) == without_counts(first)


@pytest.mark.parametrize("off", ["--no-cache", "MONET_NO_CACHE"])
def test_nothing_is_kept_where_that_is_not_wanted(monet: Path, tmp_path: Path, off: str) -> None:
    result = run(monet, tmp_path, off) if off.startswith("--") else run(monet, tmp_path, **{off: "1"})
    assert result["mappings"] > 0
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written_changes_nothing(monet: Path, tmp_path: Path) -> None:
    (tmp_path / "monet").write_text("a file where the folder would be")
    assert without_counts(run(monet, tmp_path)) == without_counts(run(monet, tmp_path, "--no-cache"))


def test_a_damaged_file_changes_nothing(monet: Path, tmp_path: Path) -> None:
    first = run(monet, tmp_path)
    (kept,) = (tmp_path / "monet").iterdir()
    bytes_of_it = kept.read_bytes()
    kept.write_bytes(bytes(byte ^ 0x10 if byte else 0 for byte in bytes_of_it))
    assert without_counts(run(monet, tmp_path)) == without_counts(first)
