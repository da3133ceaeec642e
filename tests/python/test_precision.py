"""Number formats in Python: do the calls give what the commands print, to the last bit?"""

from __future__ import annotations

import copy
import json
import os
import pickle
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

monet = pytest.importorskip("monet", reason="the Python package is not installed; run `make python`")

NETWORK = "mlp-robotics:hidden=16,layers=2"
RECIPES = ["fp32", "bf16", "mxfp8"]


@pytest.fixture
def run(program: Path):
    def call(*arguments: object) -> dict:
        result = subprocess.run([program, *map(str, arguments), "--json", "-q"], capture_output=True, text=True)
        assert result.returncode == 0, result.stderr
        return json.loads(result.stdout)

    return call


@pytest.fixture(scope="module")
def compared():
    return monet.compare_precisions(monet.load(NETWORK, batch=16), "tpu_v4", recipes=RECIPES, steps=12)


@pytest.fixture
def plots():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    yield pyplot
    pyplot.close("all")


def timeless(value):
    """Without what no two runs have in common."""
    if isinstance(value, dict):
        return {name: timeless(each) for name, each in value.items() if name != "wall_s"}
    return [timeless(each) for each in value] if isinstance(value, list) else value


def test_lists(run) -> None:
    printed = run("precision", "list")
    assert monet.formats() == printed["formats"] and monet.recipes() == printed["recipes"]
    assert monet.recipes("mxfp8") == [run("precision", "show", "mxfp8")["recipe"]]


def test_simulate(run) -> None:
    printed = run("train", NETWORK, "--batch", 16, "--precision", "mxfp8", "--simulate", 12, "--seed", 3,
                  "--optimizer", "sgd")  # fmt: skip
    (own,) = [each for each in printed["simulations"] if each["precision"] == "mxfp8"]
    common = {name: value for name, value in printed.items() if name not in ("schema", "command", "simulations")}
    network = monet.load(NETWORK, batch=16)
    of_network = monet.simulate(network, precision="mxfp8", steps=12, seed=3, optimizer="sgd")
    of_step = monet.simulate(network.train("sgd", precision="mxfp8"), steps=12, seed=3)
    assert timeless(of_network.to_dict()) == timeless(of_step.to_dict()) == timeless({**common, **own})
    assert len(of_network.losses) == 12 and of_network.measured[0]["step"] == 0


@pytest.mark.parametrize(
    ("options", "arguments"),
    [
        ({"recipes": RECIPES, "steps": 12}, ["--recipes", ",".join(RECIPES), "--steps", 12]),
        ({"recipes": "mxint8", "steps": 5, "optimizer": "sgd", "learning_rate": 0.1, "seed": 2, "loss": "mse"},
         ["--recipes", "mxint8", "--steps", 5, "--optimizer", "sgd", "--learning-rate", 0.1, "--seed", 2, "--loss", "mse"]),
        ({"recipes": RECIPES, "accuracy": False, "objective": "energy"},
         ["--recipes", ",".join(RECIPES), "--no-accuracy", "--objective", "energy"]),
        ({"recipes": ["fp32"], "simulate": "mlp-robotics:hidden=8,layers=2", "simulate_batch": 8, "steps": 5},
         ["--recipes", "fp32", "--simulate", "mlp-robotics:hidden=8,layers=2", "--simulate-batch", 8, "--steps", 5]),
    ],
)  # fmt: skip
def test_compare(run, options, arguments) -> None:
    found = monet.compare_precisions(monet.load(NETWORK, batch=16), monet.hardware("tpu_v4"), **options)
    printed = run("precision", "compare", NETWORK, "--batch", 16, "--hardware", "tpu_v4", *arguments)
    assert timeless(found.to_dict()) == timeless(printed)


def test_a_folder(compared, program: Path, tmp_path: Path) -> None:
    folder = compared.save(tmp_path / "package")
    command = [program, "precision", "compare", NETWORK, "--batch", "16", "--hardware", "tpu_v4", "--recipes",
               ",".join(RECIPES), "--steps", "12", "-q", "-o", tmp_path / "program"]  # fmt: skip
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    other = tmp_path / "program"
    assert sorted(path.name for path in folder.iterdir()) == sorted(path.name for path in other.iterdir())
    assert (folder / "comparison.csv").read_bytes() == (other / "comparison.csv").read_bytes()
    again = monet.read_result(other)
    assert isinstance(again, monet.PrecisionComparison)
    assert timeless(again.to_dict()) == timeless(compared.to_dict()) and again.best == compared.best
    again.report(tmp_path / "again.html")
    assert (tmp_path / "again.html").read_bytes() == (other / "report.html").read_bytes()
    with pytest.raises(monet.Error, match="was read or copied"):
        again.to_text()


def test_tables(compared, tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    rows = compared.to_pandas()
    assert list(rows["recipe"]) == RECIPES and (rows["energy_pj"] > 0).all()
    assert list(rows["loss"]) == [row["simulation"]["measured"][-1]["loss"] for row in compared.rows]
    assert list(rows[rows["best"]]["recipe"]) == compared.best
    losses = compared.to_pandas("losses")
    assert len(losses) == 3 * 12 and set(losses["recipe"]) == set(RECIPES)
    learnt = compared.simulation("mxfp8")
    assert list(learnt.to_pandas()["loss"]) == list(losses[losses["recipe"] == "mxfp8"]["loss"]) == learnt.losses
    assert list(learnt.to_pandas("measured")["step"]) == [each["step"] for each in learnt.measured]
    assert compared.to_csv().count("\n") == 4 and "trained for real" in compared.to_text()


def test_plots(compared, plots, tmp_path: Path) -> None:
    for x in ("energy_pj", "peak_bytes"):
        ax = compared.plot(x)
        assert {text.get_text() for text in ax.texts} == set(RECIPES)
        drawn = sorted(tuple(point) for each in ax.collections for point in each.get_offsets())
        assert drawn == sorted((row[x], row["simulation"]["measured"][-1]["loss"]) for row in compared.rows)
        assert ax.get_ylabel() == "held-out loss"
    compared.plot(y="latency_s").figure.savefig(tmp_path / "plot.png")
    assert [line.get_label() for line in compared.plot_loss().lines] == RECIPES
    line = compared.simulation("fp32").plot_loss().lines[0]
    assert list(line.get_ydata()) == compared.simulation("fp32").losses
    with pytest.raises(monet.Error, match="no 'enrgy_pj' to plot"):
        compared.plot("enrgy_pj")


def test_what_a_notebook_shows(compared) -> None:
    assert "mxfp8" in compared._repr_html_() and "3 recipes" in repr(compared)
    learnt = compared.simulation("bf16")
    assert "held-out loss" in learnt._repr_html_() and "bf16" in repr(learnt)


def test_copies(compared) -> None:
    for one in (copy.deepcopy(compared), pickle.loads(pickle.dumps(compared))):
        assert one.to_dict() == compared.to_dict()


def test_a_precision_may_be_a_file(run, tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("monet: 1\nbase: mxfp8\nweights: mxfp6_e2m3\n")
    for precision in (file, str(file)):
        result = monet.evaluate(NETWORK, "tpu_v4", batch=4, precision=os.fspath(precision))
        printed = run("evaluate", NETWORK, "--batch", 4, "--hardware", "tpu_v4", "--precision", file)
        assert result.energy_pj == printed["energy_pj"]
        assert monet.simulate(NETWORK, precision=precision, steps=2).precision == str(file)
    assert monet.recipes(file)[0]["weights"] == "mxfp6_e2m3"


@pytest.mark.parametrize(
    ("call", "message", "advice"),
    [
        (lambda: monet.recipes("mxfp9"), "no recipe and no format 'mxfp9'", "'mxfp8'?"),
        (lambda: monet.recipes("mxfp8_e4m3"), "'mxfp8_e4m3' is a format", "formats()"),
        (lambda: monet.simulate(NETWORK, precision="mxfp9"), "mxfp9", "mxfp8"),
        (lambda: monet.simulate(NETWORK, step=3), "simulate has no option 'step'", ""),
        (lambda: monet.simulate(NETWORK, steps=0), "0 steps", ""),
        (lambda: monet.simulate(NETWORK, steps="many"), "'many' is no value for the option 'steps'", ""),
        (lambda: monet.simulate("resnet19"), "no built-in network", "'resnet18'?"),
        (lambda: monet.compare_precisions(NETWORK, "edge_tpv"), "", "edge_tpu"),
        (lambda: monet.compare_precisions(NETWORK, "edge_tpu", recipes=["mxfp9"]), "mxfp9", "mxfp8"),
        (lambda: monet.compare_precisions(NETWORK, "edge_tpu", recipe="fp32"), "has no option 'recipe'", ""),
    ],
)
def test_errors(call, message, advice) -> None:
    with pytest.raises(monet.Error) as raised:
        call()
    assert message in raised.value.message and advice in raised.value.advice


def test_errors_of_a_comparison(compared) -> None:
    with pytest.raises(monet.Error, match="'mxfp4' was not compared"):
        compared.simulation("mxfp4")
    costs = monet.compare_precisions(NETWORK, "edge_tpu", recipes="fp32", accuracy=False)
    with pytest.raises(monet.Error, match="'fp32' was not trained"):
        costs.simulation("fp32")
    with pytest.raises(monet.Error, match="nothing was trained"):
        costs.plot_loss()


def test_progress_is_told() -> None:
    told = []
    monet.simulate(NETWORK, steps=30, progress=lambda *moment: told.append(moment))
    assert told and all(0 <= done <= all_ for _, done, all_ in told)


@pytest.mark.parametrize(
    "call",
    [
        "monet.simulate('mlp-robotics', steps=10**6, force=True, progress=progress)",
        "monet.compare_precisions('mlp-robotics', 'edge_tpu', steps=10**6, force=True, progress=progress)",
    ],
)
def test_an_interrupt(call: str) -> None:
    program = textwrap.dedent(f"""
        import monet, os, signal, time
        interrupted = []
        def progress(what, done, all_):
            if "training" in what and not interrupted:
                interrupted.append(time.monotonic())
                os.kill(os.getpid(), signal.SIGINT)
        try:
            {call}
        except KeyboardInterrupt:
            print("interrupted")
    """)
    child = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert child.stdout == "interrupted\n"
