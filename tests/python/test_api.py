"""Does the Python package say what the program says, to the last bit, and are its errors of use?"""

from __future__ import annotations

import copy
import json
import pickle
import subprocess
import threading
from pathlib import Path

import pytest

monet = pytest.importorskip("monet", reason="the Python package is not installed; run `make python`")


@pytest.fixture
def run(program: Path):
    def call(*arguments: object) -> dict:
        result = subprocess.run([program, *map(str, arguments), "--json", "-q"], capture_output=True, text=True)
        assert result.returncode in (0, 2), result.stderr
        return json.loads(result.stdout)

    return call


def timeless(fields: dict) -> dict:
    return {name: value for name, value in fields.items() if name not in ("wall_s", "wall_breakdown")}


def test_version(program: Path) -> None:
    text = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    assert monet.__version__ in text


@pytest.mark.parametrize(
    ("model", "load", "machine", "parameters", "options", "arguments"),
    [
        ("resnet18-cifar", {"batch": 4}, "edge_tpu", {"x": 2, "y": 2}, {},
         ["--batch", 4, "--set", "x=2", "--set", "y=2"]),
        ("mlp-robotics", {"batch": 8, "precision": "bf16"}, "h100", {}, {"training": False},
         ["--batch", 8, "--precision", "bf16", "--inference"]),
        ("gpt2-tiny", {}, "edge_tpu", {"pe_memory": "1 MiB"},
         {"optimizer": "sgd", "objective": "energy", "recompute": ["blocks"]},
         ["--set", "pe_memory=1 MiB", "--optimizer", "sgd", "--objective", "energy", "--recompute", "blocks"]),
    ],
)
def test_the_numbers_of_the_program(run, model, load, machine, parameters, options, arguments) -> None:
    result = monet.evaluate(monet.load(model, **load), monet.hardware(machine, **parameters), **options)
    assert timeless(result.to_dict()) == timeless(run("evaluate", model, "--hardware", machine, *arguments))


def test_attributes_of_a_result() -> None:
    result = monet.evaluate("mlp-robotics", "edge_tpu", batch=2)
    fields = result.to_dict()
    assert result.latency_s == fields["latency_s"] > 0
    assert result.energy_pj == pytest.approx(sum(result.energy_breakdown.values()))
    assert result.batch == 2 and result.fits and result.peak_bytes["dram"] >= result.live_peak_bytes["dram"] > 0
    assert "latency_cycles" in dir(result) and "mlp-robotics" in repr(result)
    assert json.loads(result.to_json()) == fields
    assert "latency" in result.to_text() and result.to_csv().count("\n") == 1 + len(result.operators)
    with pytest.raises(AttributeError, match="no attribute 'latencys'"):
        result.latencys
    fields["batch"] = 99
    assert result.batch == 2, "to_dict must be a copy"


def test_a_plan_gives_the_same_again(tmp_path: Path) -> None:
    first = monet.evaluate("mlp-robotics", "edge_tpu", batch=2)
    plan = tmp_path / "plan.yaml"
    plan.write_text(first.plan)
    again = monet.evaluate("mlp-robotics", "edge_tpu", batch=2, plan=plan)
    assert (again.latency_cycles, again.energy_pj) == (first.latency_cycles, first.energy_pj)


def test_networks(run) -> None:
    network = monet.load("resnet18", batch=8)
    assert timeless(network.to_dict()) == timeless(run("inspect", "resnet18", "--batch", 8))
    assert network.name == "resnet18" and network.batch == 8 and network.macs["forward"] > 0
    assert network.layers() == run("inspect", "resnet18", "--batch", 8, "--layers")["layers"]
    assert "resnet18" in repr(network)


def test_built_in_networks(run) -> None:
    assert monet.networks() == run("networks")["networks"]
    assert [network["name"] for network in monet.networks("gpt2")] == ["gpt2"]
    with pytest.raises(monet.Error, match="did you mean 'gpt2'"):
        monet.networks("gpt3")


def test_arguments_win_over_those_of_the_network() -> None:
    assert monet.evaluate(monet.load("mlp-robotics", batch=2), "edge_tpu", batch=4).batch == 4


def test_hardware(run) -> None:
    machine = monet.hardware("edge_tpu", x=2, pe_memory="1 MiB")
    assert machine.to_dict() == run("hardware", "show", "edge_tpu", "--set", "x=2", "--set", "pe_memory=1 MiB")
    assert len(machine.describe(values=True)["values"]) > len(machine.describe()["values"])
    assert machine.name == "edge_tpu" and repr(machine) == "<monet.Hardware edge_tpu, x=2, pe_memory=1 MiB>"
    assert "edge_tpu" in [preset["name"] for preset in monet.presets()]


@pytest.mark.parametrize(
    ("call", "message", "advice"),
    [
        (lambda: monet.load("resnet19"), "no built-in network", "did you mean 'resnet18'?"),
        (lambda: monet.hardware("edge_tpv"), "", "edge_tpu"),
        (lambda: monet.hardware("edge_tpu", z=3), "z", ""),
        (lambda: monet.evaluate("mlp-robotics", "edge_tpu", optimiser="sgd"), "no option 'optimiser'", "'optimizer'?"),
        (lambda: monet.evaluate("mlp-robotics", "edge_tpu", nothing_like_it=1), "no option", "there are accumulate,"),
        (lambda: monet.evaluate("mlp-robotics", "edge_tpu", optimizer=3), "3 is no value for the option", "docs/"),
        (lambda: monet.evaluate("mlp-robotics", "edge_tpu", batch="many"), "batch", "whole number"),
        (lambda: monet.evaluate("mlp-robotics", "edge_tpu", precision="fp5"), "fp5", ""),
        (lambda: monet.Explorer("edge_tpv"), "no such file or space", "did you mean 'edge_tpu'?"),
        (lambda: monet.evaluate("mlp-robotics", "edge_tpu", plan="absent.yaml"), "", ""),
        (lambda: monet.load("mlp-robotics").train("adamm"), "adamm", "adam"),
        (lambda: monet.load("mlp-robotics").train(frieze="x"), "train has no option 'frieze'", "'freeze'?"),
        (lambda: monet.load("mlp-robotics").train(freeze=3), "3 is no value for the option 'freeze'", "docs/"),
        (lambda: monet.fuse("mlp-robotics", "edge_tpu", limits=3), "fuse has no option 'limits'", "'limit'?"),
        (lambda: monet.fuse("mlp-robotics", "edge_tpu", objective="speed"), "speed", ""),
        (lambda: monet.checkpoint("mlp-robotics", "edge_tpu", budget="1MiB"), "checkpoint has no option", "budget"),
        (lambda: monet.checkpoint("mlp-robotics", "edge_tpu", memory_budget="much"), "much", ""),
        (lambda: monet.optimize("mlp-robotics", "edge_tpu", objective="speed"), "no objective 'speed'", "latency"),
        (lambda: monet.optimize("mlp-robotics", "edge_tpu", fuse="yes"), "'yes' is no value for the option", "docs/"),
        (lambda: monet.explore("mcu", sample=3), "explore has no option 'sample'", "'samples'?"),
        (lambda: monet.explore("mcu", objectives=["latencie"]), "no objective 'latencie'", "'latency'?"),
        (lambda: monet.explore("mcus"), "no such file or space", "'mcu'?"),
        (lambda: monet.pack("absent.csv"), "", ""),
        (lambda: monet.remat("absent.json", 0.9), "", ""),
        (lambda: monet.remat("absent.json", 0.9, budgets=3), "remat has no option 'budgets'", "budget"),
        (lambda: monet.validate("silicone"), "silicone", "silicon"),
    ],
)
def test_errors(call, message: str, advice: str) -> None:
    with pytest.raises(monet.Error) as caught:
        call()
    error = caught.value
    assert error.kind == "user" and message in error.message and advice in error.advice, error
    assert error.message in str(error) and error.place in str(error) and error.advice in str(error)


def test_errors_have_a_place_and_travel(tmp_path: Path) -> None:
    machine = tmp_path / "machine.yaml"
    machine.write_text("monet: hardware\nname: x\ncores: 3\n")
    with pytest.raises(monet.Error) as caught:
        monet.hardware(machine)
    assert caught.value.place.startswith(f"{machine}:")
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value) and again.place == caught.value.place


def test_results_can_be_copied() -> None:
    network = monet.load("mlp-robotics")
    assert copy.deepcopy(network).to_dict() == network.to_dict()


def test_other_threads_run_meanwhile() -> None:
    """The lock is released: another thread counts while the library works."""
    counts = [0]
    over = threading.Event()

    def count() -> None:
        while not over.wait(0.001):
            counts[0] += 1

    thread = threading.Thread(target=count)
    thread.start()
    try:
        monet.evaluate("resnet18-cifar", "edge_tpu", batch=4, jobs=1)
        assert counts[0] > 0
    finally:
        over.set()
        thread.join()


def test_calls_at_once() -> None:
    """Searches on two threads, each with a function of its own."""
    found = {}

    def search(name: str, weight: float) -> None:
        found[name] = monet.optimize(
            "mlp-robotics", "edge_tpu", evaluations=10, generations=2, population=6, jobs=1,
            objective=lambda m: m.latency_s * weight,
        )  # fmt: skip

    threads = [threading.Thread(target=search, args=each) for each in (("a", 1.0), ("b", 2.0))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [plan.plan for plan in found["a"].plans] == [plan.plan for plan in found["b"].plans]
    assert found["b"].best.value == 2 * found["a"].best.value


def test_designs_of_a_space() -> None:
    designs = [9999, 0, 4321, 17]
    explorer = monet.Explorer("edge_tpu")
    outcomes = monet.run_batch(explorer, designs, jobs=2)
    assert [outcome["design"] for outcome in outcomes] == designs
    assert outcomes == [monet.Explorer("edge_tpu").evaluate(design) for design in designs]
    assert json.loads(explorer.line(17)) == outcomes[3]


def test_type_hints_are_shipped() -> None:
    folder = Path(monet.__file__).parent
    assert (folder / "py.typed").exists()
    stub = (folder / "_core.pyi").read_text()
    from monet import _core

    for options in (name for name in dir(_core) if name.endswith("Options")):
        for name in dir(getattr(_core, options)):
            assert name.startswith("_") or f"    {name}: " in stub, f"{name} of {options} is not in _core.pyi"
    for name in dir(_core):
        assert name.startswith("_") or f"class {name}:" in stub or f"def {name}(" in stub or f"{name}: " in stub, name


def test_a_design_that_is_none_is_an_error() -> None:
    designs = len(monet.run_batch("mcu", [0]))
    assert designs == 1
    with pytest.raises(monet.Error, match="there is no design 588"):
        monet.run_batch("mcu", [588])  # 0 to 587
