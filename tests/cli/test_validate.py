"""Does `monet validate` keep its contract: rows, errors, summaries, exit status?"""

from __future__ import annotations

import json
import subprocess
from functools import partial

import pytest
from commands import run_command


@pytest.fixture(scope="module")
def validate(monet):
    return partial(run_command, monet, "validate")


def rows_of(result: subprocess.CompletedProcess) -> list[dict]:
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    assert found["schema"] == 1
    assert {"rows", "mean_absolute_percent", "worst_percent"} <= found.keys()
    for row in found["rows"]:
        assert {"case", "quantity", "measured", "modelled", "error_percent"} <= row.keys()
        assert row["error_percent"] == pytest.approx(100 * (row["modelled"] / row["measured"] - 1))
    counted = [abs(row["error_percent"]) for row in found["rows"] if row["counts"]]
    assert found["worst_percent"] == pytest.approx(max(counted))
    assert found["mean_absolute_percent"] == pytest.approx(sum(counted) / len(counted))
    return found["rows"]


def test_silicon(validate) -> None:
    rows = rows_of(validate("silicon", "--json"))
    assert [(row["measured"], row["counts"]) for row in rows] == [
        (6.18e6, True), (8.12e5, True), (66302, False), (3.66e5, False)]
    assert all(row["quantity"] == "cycles" and row["modelled"] > 0 for row in rows)


def test_silicon_names_what_it_assumes(validate) -> None:
    text = validate("silicon").stdout
    assert "depfin, FSRCNN 540x960" in text and "aside: no target" in text
    assert "\nassumed\n- all: 8-bit operands" in text


def test_checkpointed_steps(validate, data) -> None:
    """Forward-saved bytes within 5 %, and backward operations exactly, of every step that was measured so."""
    lines = (data / "groundtruth" / "h200_training.csv").read_text().splitlines()
    checkpointed = [line for line in lines[1:] if line.split(",")[4] == "yes"]
    rows = rows_of(validate("checkpoint", "--json"))
    assert len(rows) == 2 * len(checkpointed) == 20
    for saved, macs in zip(rows[::2], rows[1::2], strict=True):
        assert (saved["quantity"], macs["quantity"]) == ("saved bytes", "backward MACs")
        assert abs(saved["error_percent"]) < 5, saved
        assert macs["modelled"] == macs["measured"], macs


def test_h200(validate) -> None:
    rows = rows_of(validate("h200", "--only", "mlp_robotics, batch *, fp32, adam", "--json"))
    assert len(rows) >= 3 and len(rows) % 3 == 0
    assert [row["quantity"] for row in rows[:3]] == ["step ms", "step mJ", "peak bytes"]
    assert all(row["modelled"] > 0 and row["aside"] == "" for row in rows)


def test_every_measured_step_is_a_case(validate, data) -> None:
    lines = (data / "groundtruth" / "h200_training.csv").read_text().splitlines()[1:]
    wanted = [line for line in lines if line.startswith("gpt2_tiny,8,")]
    rows = rows_of(validate("h200", "--only", "gpt2_tiny, batch 8, *", "--json"))
    assert len(rows) == 3 * len(wanted)
    assert {row["case"].endswith("checkpointed") for row in rows} == {True, False}


def test_a_table_says_mean_and_worst_of_each_quantity(validate) -> None:
    text = validate("h200", "--only", "mlp_robotics, batch 256, *").stdout
    for quantity in ("step ms", "step mJ", "peak bytes"):
        assert f"\n{quantity}: mean " in text


@pytest.mark.parametrize("arguments, message", [
    (["silicone"], "there is no validation 'silicone' (did you mean 'silicon'?)"),
    (["silicon", "--only", "depfim*"], "no case matches 'depfim*' (cases look like 'depfin, FSRCNN 540x960'"),
    (["h200", "--only", "resnet19*"], "no case matches 'resnet19*' (cases look like 'resnet18, batch 1, fp32, adam'"),
    (["checkpoint", "--only", "unet*"], "no case matches 'unet*' (cases look like 'resnet18, batch 8, fp32, adam, "
                                        "checkpointed'"),
    (["silicon", "--data", "/nowhere"], "/nowhere/validation/depfin.yaml"),
    (["h200", "--data", "/nowhere"], "/nowhere/groundtruth/h200_training.csv"),
])
def test_errors(validate, arguments, message) -> None:
    result = validate(*arguments)
    assert result.returncode == 1 and result.stdout == ""
    assert message in result.stderr
