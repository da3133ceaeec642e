"""Does `monet evaluate --parallel` keep its contract: figures that a sheet of paper gives, plans, and messages?"""

from __future__ import annotations

import json
from functools import partial

import pytest
from commands import run_command

NETWORK = "gpt2-mini:layers=2,width=64,heads=4,ffn=256,vocabulary=256,tokens=32"
COMMON = ("--hardware", "dgx_h100", "--no-compare")


@pytest.fixture
def evaluate(monet, tmp_path):
    return partial(run_command, monet, "evaluate", cwd=tmp_path)


def found(result) -> dict:
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def test_rates_and_energy_are_those_of_all_chips(evaluate) -> None:
    report = found(evaluate(NETWORK, *COMMON, "--chips", "8", "--batch", "16", "--json"))
    assert report["chips"] == 8
    assert report["batch"] == 16
    assert report["samples_per_s"] == pytest.approx(16 / report["latency_s"])
    assert report["tokens_per_s"] == pytest.approx(16 * 32 / report["latency_s"])
    assert report["energy_pj"] == pytest.approx(8 * report["chip_energy_pj"])
    assert report["parallel"]["recipe"] == "dp=8,tp=1,zero=0"
    assert set(report["exposed_communication"]) == {"dp", "tp"}
    assert 0 < report["mfu"] < 1


def test_gradients_are_sent_once(evaluate) -> None:
    report = found(evaluate(NETWORK, *COMMON, "--chips", "4", "--parallel", "dp=4", "--batch", "8", "--json"))
    dp = report["parallel"]["axes"][0]
    # 2 (n - 1) / n of them by ring or direct, once where the switch adds up; and the loss.
    assert report["parameters"] * 4 <= dp["sent_bytes"] <= 1.5 * report["parameters"] * 4 + 100
    assert dp["exposed_s"] > 0


def test_without_overlap_it_takes_longer(evaluate) -> None:
    # Several buckets of gradients: the last cannot run beside anything.
    arguments = ("gpt2-small:layers=4", *COMMON, "--chips", "8", "--batch", "16", "--json")
    beside = found(evaluate(*arguments))
    after = found(evaluate(*arguments, "--parallel", "overlap=off"))
    assert after["latency_s"] > beside["latency_s"]
    dp = after["parallel"]["axes"][0]
    assert dp["exposed_s"] == pytest.approx(dp["communication_s"])


def test_zero_keeps_less(evaluate) -> None:
    arguments = (NETWORK, *COMMON, "--chips", "8", "--batch", "16", "--json")
    peaks = [
        next(iter(found(evaluate(*arguments, "--parallel", f"zero={zero}"))["peak_bytes"].values()))
        for zero in (0, 1, 3)
    ]
    assert peaks[0] > peaks[1] > peaks[2]


def test_one_chip_is_one_chip(evaluate) -> None:
    arguments = (NETWORK, *COMMON, "--batch", "4", "--json")
    one = found(evaluate(*arguments))
    same = found(evaluate(*arguments, "--parallel", "dp=1,zero=1"))
    assert same["latency_s"] == one["latency_s"]
    assert same["chips"] == 1
    assert "chips" not in one


def test_a_plan_gives_the_same_again(evaluate, tmp_path) -> None:
    words = ("--parallel", "tp=2,dp=2,zero=2", "--micro-batch", "2")
    first = found(evaluate(NETWORK, *COMMON, "--batch", "16", *words, "--save-plan", "plan.yaml", "--json"))
    assert first["micro_batches"] == 4
    assert "parallel: {mesh: {dp: 2, tp: 2}, zero: 2, micro_batch: 2}" in (tmp_path / "plan.yaml").read_text()
    again = found(evaluate(NETWORK, *COMMON, "--batch", "16", "--plan", "plan.yaml", "--json"))
    assert again["latency_s"] == first["latency_s"]
    assert again["parallel"] == first["parallel"]


def test_ten_thousand_chips(evaluate) -> None:
    report = found(
        evaluate(NETWORK, *COMMON, "--chips", "8192", "--parallel", "tp=2", "--batch", "8192", "--json")
    )
    assert report["parallel"]["recipe"] == "dp=4096,tp=2,zero=0"


def test_words_experts_and_tokens_have_axes(evaluate) -> None:
    experts = "moe:layers=1,width=64,heads=4,kv_heads=4,head_width=0,experts=4,expert_ffn=64,vocabulary=256,tokens=32"
    words = "dp=2,ep=2,cp=2,tp=2,zero=1"
    report = found(evaluate(experts, *COMMON, "--parallel", words, "--batch", "8", "--json"))
    assert report["parallel"]["recipe"] == words
    assert report["chips"] == 16
    axes = {axis["axis"]: axis for axis in report["parallel"]["axes"]}
    assert all(axes[axis]["collectives"] > 0 for axis in ("dp", "ep", "cp", "tp"))
    assert any("by the classes of the loss" in note for note in report["notes"])
    six = evaluate(experts, *COMMON, "--parallel", "ep=3", "--batch", "6")
    assert "4 experts cannot be divided over the 3 chips of ep" in six.stderr


@pytest.mark.parametrize(
    ("words", "recipe"),
    [
        ("megatron", "dp=2,tp=8,zero=1,sequence=on"),
        ("megatron,tp=4,zero=0", "dp=4,tp=4,zero=0,sequence=on"),
        ("fsdp", "dp=16,tp=1,zero=3"),
    ],
)
def test_recipes(evaluate, words, recipe) -> None:
    network = NETWORK.replace("heads=4", "heads=8")
    report = found(evaluate(network, *COMMON, "--chips", "16", "--parallel", words, "--batch", "16", "--json"))
    assert report["parallel"]["recipe"] == recipe


def test_chips_with_arrays_have_a_network_unit(evaluate) -> None:
    arguments = (NETWORK, "--hardware", "tpu_v4_pod", "--no-compare", "--batch", "16", "--json")
    one = found(evaluate(*arguments[:-3], "--batch", "2", "--json"))
    many = found(evaluate(*arguments, "--chips", "8"))
    dp = many["parallel"]["axes"][0]
    assert dp["collectives"] > 0
    assert 0 <= dp["exposed_s"] <= dp["communication_s"] * (1 + 1e-9)
    # What waits is what it takes longer: cores do the same work.
    assert one["latency_s"] <= many["latency_s"] <= one["latency_s"] * 1.05 + dp["exposed_s"]
    assert 0 < many["mfu"] < 1


def test_inference(evaluate) -> None:
    arguments = ("gpt2-small:layers=2", *COMMON, "--inference", "--batch", "16", "--json")
    one, four = found(evaluate(*arguments)), found(evaluate(*arguments, "--chips", "4", "--parallel", "dp=4"))
    assert four["chips"] == 4
    assert all(axis["collectives"] == 0 for axis in four["parallel"]["axes"])
    assert four["latency_s"] < one["latency_s"]
    both = found(evaluate(*arguments, "--chips", "4", "--parallel", "dp=2,tp=2"))
    assert both["exposed_communication"]["tp"] > 0


def test_text(evaluate) -> None:
    text = evaluate(NETWORK, *COMMON, "--chips", "8", "--parallel", "tp=2", "--batch", "16").stdout
    assert "chips        8 (dp=4,tp=2,zero=0), 4 samples of each of dp at a time\n" in text
    assert "tokens/s; " in text
    assert "network      dp: " in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--parallel", "qq=2"), "'qq=2' is no word of it"),
        (("--parallel", "tp"), "tp needs a whole number, not ''"),
        (("--parallel", "tp=2,tp=4"), "'tp' is said twice"),
        (("--parallel", "zero=4"), "there is no zero=4"),
        (("--parallel", "tp=0"), "tp=0 chips are not possible"),
        (("--parallel", "sequence=yes"), "sequence is on or off, not 'yes'"),
        (("--chips", "8", "--parallel", "dp=2,tp=2"), "makes 4 chips, and there are 8"),
        (("--chips", "8", "--batch", "12"), "a batch of 12 cannot be divided over the 8 chips of dp"),
        (("--chips", "2", "--batch", "12", "--micro-batch", "4"), "6 samples of a chip are no micro-batches of 4"),
        (("--micro-batch", "4"), "say --chips or --parallel too"),
        (("--chips", "2", "--micro-batch", "4"), "micro-batches need the batch of all chips"),
        (("--chips", "2", "--accumulate", "2", "--batch", "8"), "say --micro-batch in its place"),
        (("--chips", "2", "--inference", "--parallel", "zero=1"), "the forward part alone has no optimizer"),
        (("--parallel", "megatron,fsdp"), "'megatron' and 'fsdp' are two recipes"),
        (("--parallel", "cp=5"), "32 tokens cannot be divided over the 5 chips of cp"),
        (("--parallel", "ep=2", "--batch", "2"), "the network has no experts"),
        (("--parallel", "ep=2", "--batch", "3"), "cannot be divided over the 2 chips of dp and ep"),
        (("--chips", "2", "--batch", "2", "--lowering", "compiled"), "a fusing compiler's kernels are not known"),
        (("--parallel", "tp=7"), "no pair of products with weights can be split over the 7 chips of tp"),
        (("--chips", "12", "--batch", "12"), "12 chips do not fill units of 8"),
    ],
)
def test_messages(evaluate, arguments, message) -> None:
    result = evaluate(NETWORK, *COMMON, *arguments)
    assert result.returncode == 1
    assert message in result.stderr


@pytest.mark.parametrize(
    ("machine", "message"),
    [("h100", "does not say what joins its chips"), ("edge_tpu", "does not say what joins its chips")],
)
def test_machines_without_chips_beside_them(evaluate, machine, message) -> None:
    result = evaluate(NETWORK, "--hardware", machine, "--chips", "2", "--batch", "2", "--precision", "bf16")
    assert result.returncode == 1
    assert message in result.stderr


@pytest.mark.parametrize(
    ("block", "message"),
    [
        ("parallel: {mesh: {qq: 2}}", "a mesh has no axis 'qq'"),
        ("parallel: {zero: 1}", "a mesh: {mesh: {dp: 2, tp: 4}}"),
        ("parallel: {mesh: {dp: 0}}", "'dp' of the mesh cannot be 0"),
        ("parallel: {mesh: {dp: 2}, zero: 5}", "0, 1, 2 or 3"),
        ("parallel: {mesh: {dp: 2}, sequence: perhaps}", "on or off"),
        ("parallel: {mesh: {dp: 2}, levels: 2}", "unknown key 'levels'"),
        ("parallel: {mesh: {dp: 2}, stages: 2}", "write a block of keys: schedule, chunks, cut, sizes"),
    ],
)
def test_messages_of_plans(evaluate, tmp_path, block, message) -> None:
    (tmp_path / "plan.yaml").write_text(f"plan: 1\n{block}\n")
    result = evaluate(NETWORK, *COMMON, "--batch", "4", "--plan", "plan.yaml")
    assert result.returncode == 1
    assert message in result.stderr
