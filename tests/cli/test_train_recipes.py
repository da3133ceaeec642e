"""Does `--precision` take recipes and files of them, in every command that makes a step, and say what became of it?"""

from __future__ import annotations

from pathlib import Path

import pytest
from commands import answer_of, is_mistake, run_command

NETWORK = "mlp-robotics"
OWN = """\
monet: 1
base: mxfp8
values: fp32
formats:
  fp7: {element: {exponent: 3, mantissa: 3}, group: 16}
weights: fp7
gradients: none
"""


def train(monet: Path, precision: str) -> dict:
    return answer_of(run_command(monet, "train", NETWORK, "--batch", "32", "--precision", precision, "--json"))


def by_class(step: dict) -> dict:
    return {each["class"]: each for each in step["formats"]}


@pytest.mark.parametrize(
    ("options", "recipe", "source", "text"),
    [
        ((), "fp32", "file", "numbers      fp32, the network's own"),
        (("--precision", "bf16"), "bf16", "option", "numbers      bf16"),
        (("--precision", "int8-everywhere"), "int8-everywhere", "option",
         "numbers      int8-everywhere; all tensors in 8 bits, nothing trains so"),
    ],
)  # fmt: skip
def test_a_step_names_its_number_formats(monet: Path, options, recipe, source, text) -> None:
    step = answer_of(run_command(monet, "train", NETWORK, *options, "--json"))
    assert (step["recipe"], step["recipe_from"]) == (recipe, source)
    assert text in run_command(monet, "train", NETWORK, *options, "-q").stdout.splitlines()


# 32-256-256-256-8: weights are read by the forward product and, but for the first, by that of the gradient.
WEIGHTS = [256 * 32, 256 * 256, 256 * 256, 8 * 256]


def test_vector_groups_need_two_copies(monet: Path) -> None:
    weights = by_class(train(monet, "mxfp8"))["weights"]
    assert weights["tensors"] == 4
    assert weights["copies"] == 7
    assert weights["elements"] == 2 * sum(WEIGHTS) - WEIGHTS[0]
    # Of the last weight the copy along its 8 outputs is filled up to 32.
    filled = 256 * 32
    assert weights["bytes"] == (weights["elements"] - WEIGHTS[3] + filled) * 33 // 32
    assert weights["padding_bytes"] == (filled - WEIGHTS[3]) * 33 // 32


def test_squares_need_one(monet: Path) -> None:
    formats = by_class(train(monet, "mxfp8-square"))
    assert [formats[name]["copies"] for name in ("weights", "activations", "gradients")] == [4, 4, 4]
    assert formats["weights"]["bytes"] == sum(WEIGHTS) * 65 // 64


def test_plain_recipes_have_no_formats(monet: Path) -> None:
    for precision in ("fp32", "bf16", "mixed"):
        assert "formats" not in train(monet, precision)


def test_a_file_of_ones_own(monet: Path, tmp_path: Path) -> None:
    file = tmp_path / "own.yaml"
    file.write_text(OWN)
    step = train(monet, str(file))
    assert by_class(step)["weights"]["format"] == "fp7"
    assert "gradients" not in by_class(step)
    table = run_command(monet, "train", NETWORK, "--batch", "32", "--precision", str(file))
    assert "elements quantized" in table.stdout


@pytest.mark.parametrize("command", ["map", "evaluate", "fuse"])
def test_commands_with_a_machine_take_recipes(monet: Path, command: str) -> None:
    answer = answer_of(run_command(monet, command, NETWORK, "--batch", "32", "--hardware", "tpu_v4",
                                   "--precision", "mxfp8-square", "--json"))
    assert answer["schema"] == 1


def test_recomputing_on_a_quantized_step(monet: Path) -> None:
    answer = answer_of(run_command(monet, "evaluate", NETWORK, "--batch", "32", "--hardware", "tpu_v4",
                                   "--precision", "mxfp8", "--recompute", "*", "--json"))
    assert answer["checked"]


def test_inference_quantizes_the_forward_part(monet: Path) -> None:
    answer = answer_of(run_command(monet, "evaluate", NETWORK, "--batch", "32", "--hardware", "tpu_v4",
                                   "--precision", "mxfp8", "--inference", "--json"))
    assert any("mxfp8" in operator["name"] for operator in answer["operators"])


def test_mistakes(monet: Path, tmp_path: Path) -> None:
    is_mistake(run_command(monet, "train", NETWORK, "--precision", "mxfp9"), "there is no precision 'mxfp9'", "mxfp8")
    is_mistake(run_command(monet, "evaluate", NETWORK, "--hardware", "tpu_v4", "--precision", "int9"), "int8")
    file = tmp_path / "wrong.yaml"
    file.write_text("monet: 1\nweigths: mxfp8\n")
    is_mistake(run_command(monet, "train", NETWORK, "--precision", str(file)), "wrong.yaml:2:1",
               "did you mean 'weights'?")
