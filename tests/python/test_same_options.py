"""Has each call every option of its command, and no other?"""

from __future__ import annotations

import inspect
import re
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

monet = pytest.importorskip("monet", reason="the Python package is not installed; run `make python`")
_core = pytest.importorskip("monet._core")

# What says how a command answers, and where to: a call gives an object that is asked for it.
ANSWERS = {"help", "json", "quiet", "verbose", "color", "output", "csv"}
# Options of a command in other words: by the word of the command line, the argument of the call.
WORDS = {
    "dim": "dimensions",
    "lora": "lora_rank",
    "lora-target": "lora_targets",
    "cache": "cache_file",
    "any-tilings": "divisible_tilings",
    "any-weights": "weights_fit",
    "no-paging": "page",
    "inference": "training",  # training=False
    "fixed": "fixed_bytes",
    "page": "page",
}
# By command: words that are part of another value in Python.
WITHIN = {
    "evaluate": {"set", "hardware", "trace", "chakra", "lifetimes", "save-plan", "operators", "tensors"},
    "fuse": {"set", "hardware", "show"},
    "checkpoint": {"set", "hardware", "points"},
    "optimize": {"set", "hardware"},
    "explore": {"list", "show", "rescue", "all", "front", "jsonl"},
    "remat": {"page"},
    "pack": set(),
    "validate": set(),
}  # fmt: skip
# By command: arguments that the command line has in another form. What is fixed is said with the reason.
OTHER_FORM = {
    "evaluate": {"costs", "details", "progress", "network"},  # functions; what Result needs for its pictures
    "fuse": {"costs", "progress", "network"},
    "checkpoint": {"costs", "progress", "network"},
    "optimize": {"costs", "progress", "network"},
    "explore": {"progress", "space"},
    "remat": {"graph", "budget_fraction", "budget_bytes", "deadline_factor", "page_bytes"},  # numbers without units
    "pack": {"file"},
    "validate": {"name", "progress"},
}
STEP = _core.STEP_OPTIONS
CALLS: dict[str, tuple[Callable[..., object], Iterable[str]]] = {
    "evaluate": (monet.evaluate, monet._options.names_of(_core.StepRequest())),
    "fuse": (monet.fuse, [*monet._options.names_of(_core.FuseOptions()), *STEP, *_core.FUSE_STEP_OPTIONS]),
    "checkpoint": (
        monet.checkpoint,
        [*monet._options.names_of(_core.CheckpointOptions()), *STEP, *_core.SEARCH_STEP_OPTIONS],
    ),
    "optimize": (
        monet.optimize,
        [*monet._options.names_of(_core.OptimizeOptions()), *STEP, *_core.SEARCH_STEP_OPTIONS],
    ),
    "explore": (monet.explore, monet._options.names_of(_core.ExploreOptions())),
    "remat": (monet.remat, monet._options.names_of(_core.RematOptions())),
    "pack": (monet.pack, []),
    "validate": (monet.validate, []),
}


def words_of(program: Path, command: str) -> set[str]:
    text = subprocess.run([program, command, "--help"], capture_output=True, text=True, check=True).stdout
    words = set(re.findall(r"^  (?:-\w,)?--([a-z0-9-]+)", text, re.MULTILINE))
    assert "help" in words and len(words) > 5
    return words


def argument_of(word: str) -> str:
    return WORDS.get(word) or word.removeprefix("no-").replace("-", "_")


@pytest.mark.parametrize("command", CALLS)
def test_a_call_takes_what_its_command_takes(program: Path, command: str) -> None:
    call, named = CALLS[command]
    arguments = {name for name in inspect.signature(call).parameters if name != "options"} | set(named)
    words = words_of(program, command) - ANSWERS - WITHIN[command]
    of_command = {argument_of(word) for word in words}
    assert of_command - arguments == set(), "only the command has these"
    both = {*OTHER_FORM[command], "hardware"}
    if command == "evaluate":
        both |= {"suggest_up_to"}  # `suggest` sets it
    if command != "remat":
        both |= {"training"} - of_command
    assert arguments - of_command - both == set(), "only the call has these"


def test_an_option_that_a_search_does_not_look_at_is_refused() -> None:
    with pytest.raises(monet.Error, match="checkpoint has no option 'cache_file'"):
        monet.checkpoint("lenet5", "edge_tpu", cache_file="mappings")
    with pytest.raises(monet.Error, match="fuse has no option 'parallel'"):
        monet.fuse("lenet5", "edge_tpu", parallel="dp=2")
