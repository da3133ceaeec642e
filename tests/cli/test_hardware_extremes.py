"""Does a hardware file with an absurd number end in an answer or in an error that says so: never in a defect of the
program, a number that is none, hours, or all of the memory?"""

import json
import random
import re
import resource
import subprocess
from pathlib import Path

import pytest

PRESETS = ("stm32f407", "edge_tpu", "eyeriss_like", "monet_2x2", "fusemax", "a100", "tpu_v4", "diana", "snax_mx")
CASES = 100
SECONDS = 20
MEMORY_BYTES = 8 << 30

EXTREMES = (
    *("0", "-1", "5e-324", "1e-300", "1e-30", "1e-9", "0.3", "1e9", "1e18", "1e30", "1e300", "1e400"),
    *("2147483647", "4294967296", "9223372036854775807", "18446744073709551616"),
    *(".inf", ".nan", "1e-400"),
    # What the ranges let pass, alone: with others it may be too much.
    *("1e-12", "1e-6", "1e-3", "1", "7", "1000", "1e6", "1e12", "1e15", "65536"),
)
# A number in a value: not in a name (fp32, int8), a comment or a text.
NUMBER = re.compile(r"(?<=[\s:\[,=*/({+-])\d+(?:\.\d+)?(?:e[+-]?\d+)?(?=[\s,\]})]|\.\.|$)")
HIDDEN = re.compile(r'"[^"\n]*"|#[^\n]*|^(?:monet|name|description|source|confidence):[^\n]*', re.M)


def numbers_of(text: str) -> list[tuple[int, int]]:
    visible = HIDDEN.sub(lambda found: "~" * len(found.group()), text)
    return [found.span() for found in NUMBER.finditer(visible)]


def mutant(presets: Path, seed: int) -> tuple[str, str]:
    """A preset with one number replaced, sometimes two; and what was done."""
    choice = random.Random(seed)
    name = PRESETS[seed % len(PRESETS)]
    text = (presets / f"{name}.yaml").read_text()
    done = name
    for begin, end in sorted(choice.sample(numbers_of(text), choice.choice((1, 1, 2, 4))), reverse=True):
        extreme = choice.choice(EXTREMES)
        line = text.count("\n", 0, begin) + 1
        done += f", line {line}: {text[begin:end]} -> {extreme}"
        text = text[:begin] + extreme + text[end:]
    return text, done


def no_number(word: str) -> None:
    raise AssertionError(f"{word} in the result")


def empty_keys(value: object, key: str = "") -> set[str]:
    """Keys whose value is null: so a number that is none is written."""
    if isinstance(value, dict):
        return set().union(*(empty_keys(inner, name) for name, inner in value.items()))
    if isinstance(value, list):
        return set().union(*(empty_keys(inner, key) for inner in value))
    return {key} if value is None else set()


def limit_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))


def evaluate(monet: Path, hardware: str) -> subprocess.CompletedProcess[str]:
    command = [monet, "evaluate", "lenet5", "--hardware", hardware, "--json", "--factors", "4", "--jobs", "2"]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=SECONDS, preexec_fn=limit_memory, check=False
    )


@pytest.mark.parametrize("seed", range(CASES))
def test_an_absurd_number(monet: Path, tmp_path: Path, seed: int) -> None:
    text, done = mutant(Path(__file__).resolve().parents[2] / "presets", seed)
    path = tmp_path / "machine.yaml"
    path.write_text(text)
    result = evaluate(monet, str(path))
    assert result.returncode in (0, 1, 2), f"{done}: {result.stderr}"
    if result.returncode == 0:
        found = json.loads(result.stdout, parse_constant=no_number)
        normal = json.loads(evaluate(monet, PRESETS[seed % len(PRESETS)]).stdout)
        assert empty_keys(found) <= empty_keys(normal), done
    else:
        assert not re.search(r"\b(inf|nan)\b", result.stderr.replace(".inf", "").replace(".nan", "")), result.stderr
