"""What is left when a command is killed while it writes? MONET_CAMPAIGN=SECONDS goes on for so long."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from commands import run_command

SECONDS = float(os.environ.get("MONET_CAMPAIGN", "0"))
SEED = int(os.environ.get("MONET_CAMPAIGN_FIRST", "1"))
KILLS = 6  # of each command, where no time is given

STEP = ["mlp-robotics", "--hardware", "edge_tpu"]
# What is written, and with which words; {} is where, and `other` makes it another one.
COMMANDS = {
    "evaluate": ["evaluate", *STEP, "-o", "{}"],
    "plan": ["evaluate", *STEP, "--save-plan", "{}"],
    "fuse": ["fuse", *STEP, "-o", "{}"],
    "checkpoint": ["checkpoint", *STEP, "-o", "{}"],
    "checkpoint-folder": ["checkpoint", *STEP, "--pareto", "-o", "{}"],
    "optimize": ["optimize", *STEP, "--generations", "2", "--population", "4", "-o", "{}"],
    "train": ["train", "mlp-robotics", "-o", "{}"],
    "map": ["map", *STEP, "--csv", "{}"],
    "report": ["report", "{source}", "-o", "{}"],
}
ENDINGS = {"evaluate": "", "plan": ".yaml", "fuse": ".yaml", "checkpoint": ".yaml", "train": ".onnx", "map": ".csv", "report": ".html"}


def content(path: Path) -> dict[str, bytes] | None:
    """Of all files; None: there is nothing."""
    if not path.exists():
        return None
    if path.is_file():
        return {"": path.read_bytes()}
    return {str(file.relative_to(path)): file.read_bytes() for file in path.rglob("*") if file.is_file()}


class Victim:
    """A command that replaces what another run of it wrote."""

    def __init__(self, monet: Path, name: str, folder: Path) -> None:
        self.monet, self.name, self.folder = monet, name, folder
        self.target = folder / f"target{ENDINGS.get(name, '')}"
        self.kept = folder / "kept"
        self.states: list[dict[str, bytes] | None] = [None]
        for batch in ("1", "2"):
            source = folder / f"source{batch}"
            if name == "report":
                assert run_command(monet, "evaluate", *STEP, "--batch", batch, "-o", source, "-q").returncode == 0
            begin = time.monotonic()
            result = run_command(monet, *self.words(batch))
            assert result.returncode == 0, result.stderr
            self.takes = time.monotonic() - begin
            self.states.append(content(self.target))
            if batch == "1":
                os.rename(self.target, self.kept)
            else:
                self.clear()

    def words(self, batch: str) -> list[str]:
        source = self.folder / f"source{batch}"
        words = [word.format(self.target, source=source) for word in COMMANDS[self.name]]
        return [*words, "-q"] if self.name == "report" else [*words, "--batch", batch, "-q"]

    def clear(self) -> None:
        if self.target.is_dir():
            shutil.rmtree(self.target)
        else:
            self.target.unlink(missing_ok=True)

    def attack(self, rng: random.Random) -> str:
        """What was found: nothing, old, new or two runs, which is told."""
        self.clear()
        has_old = rng.random() < 0.5
        if has_old:
            (shutil.copytree if self.kept.is_dir() else shutil.copy)(self.kept, self.target)
        wait = rng.uniform(0.3, 1.1) * self.takes
        with subprocess.Popen([self.monet, *self.words("2")], stdout=subprocess.DEVNULL) as process:
            time.sleep(wait)
            process.kill()
        found = content(self.target)
        if found == self.states[2]:
            return "new"
        if found == self.states[1 if has_old else 0]:
            return "old" if has_old else "nothing"
        told = self.target.is_dir() and (self.target / ".unfinished").exists()
        assert told, f"{self.name}: neither what was there nor what was to come"
        return "told"


@pytest.mark.parametrize("name", COMMANDS)
def test_killed_at_any_moment(monet: Path, tmp_path: Path, name: str) -> None:
    rng = random.Random(SEED)
    victim = Victim(monet, name, tmp_path)
    counts: dict[str, int] = {}
    end = time.monotonic() + SECONDS / len(COMMANDS)
    while sum(counts.values()) < KILLS or time.monotonic() < end:
        found = victim.attack(rng)
        counts[found] = counts.get(found, 0) + 1
    print(f"{name}: {sum(counts.values())} kills: {dict(sorted(counts.items()))} cases")
