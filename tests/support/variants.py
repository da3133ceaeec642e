"""Other machines and networks made from known ones, of which something is known beforehand."""

from __future__ import annotations

import random
import re
from pathlib import Path

import onnx
import yaml

PRESETS = Path(__file__).parents[2] / "presets"

# Rates that do not follow the clock.
ABSOLUTE = re.compile(r"B/s|bit/s|OP/s|\b[num]s\b|access_time|\bms\b")


def doubled(value: str) -> str:
    """A width, or the upper end of a range of widths."""
    if value.startswith("="):
        return f"=2 * ({value[1:]})"
    low, dots, high = value.rpartition("..")
    number, _, unit = high.partition(" ")
    return f"{low}{dots}{2 * float(number):.10g} {unit}"


def with_double_bandwidth(text: str) -> str:
    """Every port of a shared memory and every link is twice as wide; registers are no larger than they are."""
    parts = re.split(r"^(?=\w)", text, flags=re.M)
    return "".join(
        re.sub(r"(width: (?:\{value: )?)(=?[^,}\n#]+)", lambda found: found[1] + doubled(found[2].strip()), part)
        if part.startswith(("memories:", "links:")) else part
        for part in parts)


def with_double_clock(text: str) -> str | None:
    """None where something does not follow the clock."""
    clocks = re.findall(r"^clock: (?:\{value: )?([0-9.]+) [kMG]Hz", text, re.M)
    if len(clocks) != 1 or len(re.findall(r"[kMG]Hz", text)) != 1 or ABSOLUTE.search(text):
        return None
    return re.sub(r"^(clock: (?:\{value: )?)([0-9.]+)", lambda found: f"{found[1]}{2 * float(found[2]):.10g}", text, flags=re.M)


# What is listed under these is in an order (docs/hardware.md): memories from the lowest up, the precision that others are
# relative to first, the port that moves what none states first, cores by their numbers.
ORDERED = {"cores", "memories", "dimensions", "precisions", "ports"}


def permuted(text: str, rng: random.Random) -> str:
    """The same machine with the keys of its file in another order."""

    def shuffled(node: object, under: str) -> object:
        if isinstance(node, list):
            return [shuffled(each, "") for each in node]
        if not isinstance(node, dict):
            return node
        keys = list(node)
        if under not in ORDERED:
            rng.shuffle(keys)
        return {key: shuffled(node[key], str(key)) for key in keys}

    return yaml.dump(shuffled(yaml.safe_load(text), ""), sort_keys=False, width=1000)


def renamed(path: Path, to: Path, rng: random.Random) -> Path:
    """The same network, every node and tensor under another name."""
    model = onnx.load(path, load_external_data=False)
    numbers = rng.sample(range(10**6), 10**5)
    names: dict[str, str] = {"": ""}

    def other(name: str) -> str:
        return names.setdefault(name, f"t{numbers[len(names)]}")

    graph = model.graph
    for value in [*graph.input, *graph.output, *graph.value_info, *graph.initializer]:
        value.name = other(value.name)
    for node in graph.node:
        node.name = f"n{rng.randrange(10**9)}"
        node.input[:] = [other(name) for name in node.input]
        node.output[:] = [other(name) for name in node.output]
        assert not any(attribute.HasField("g") for attribute in node.attribute), "a subgraph has names too"
    onnx.save(model, to)
    return to
