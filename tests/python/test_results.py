"""Results as tables, files, plots and in notebooks."""

from __future__ import annotations

import copy
import json
import pickle
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

monet = pytest.importorskip("monet", reason="the Python package is not installed; run `make python`")

NETWORK = "mlp-robotics"


@pytest.fixture(scope="module")
def machine():
    return monet.hardware("edge_tpu", x=2, y=2)


@pytest.fixture(scope="module")
def result(machine):
    return monet.evaluate(monet.load(NETWORK, batch=4), machine)


@pytest.fixture(scope="module")
def optimization(machine):
    return monet.optimize(NETWORK, machine, evaluations=15, generations=2, population=6)


@pytest.fixture(scope="module")
def checkpointing(machine):
    return monet.checkpoint(monet.load(NETWORK, batch=16), machine, method="nsga2", population=8, generations=2)


@pytest.fixture(scope="module")
def exploration():
    return monet.explore("mcu", samples=30)


@pytest.fixture(scope="module")
def everything(machine, result, optimization, checkpointing, exploration):
    network = monet.load(NETWORK)
    return [network, network.train(), machine, result, monet.fuse(NETWORK, machine), optimization, optimization.best,
            checkpointing, exploration]  # fmt: skip


@pytest.fixture
def plots():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    yield pyplot
    pyplot.close("all")


def test_tables_of_a_result(result) -> None:
    pytest.importorskip("pandas")
    operators = result.to_pandas()
    assert list(operators["name"]) == [op["name"] for op in result.operators]
    parts = [op["energy_breakdown"]["memory"] for op in result.operators]
    assert list(operators["energy_breakdown.memory"]) == parts
    assert set(result.to_pandas("memories")["name"]) == set(result.peak_bytes) | set(result.live_peak_bytes)
    assert set(result.to_pandas("phases")["phase"]) == {"forward", "backward", "optimizer"}
    assert len(result.to_pandas("resources")) == len(result.resources)
    assert result.to_pandas("critical_path")["end"].max() == pytest.approx(result.latency_cycles)


def test_the_trace_is_what_the_cores_did(result) -> None:
    pytest.importorskip("pandas")
    trace = result.to_pandas("trace")
    cores = trace[trace["track"].str.startswith("core ")]
    busy = (cores["end"] - cores["start"]).groupby(cores["track"]).sum()
    for resource in result.resources:
        if resource["kind"] == "core" and resource["busy_cycles"]:
            assert busy[f"core {resource['name']}"] == pytest.approx(resource["busy_cycles"])


def test_lifetimes_add_up_to_the_peak(result) -> None:
    pytest.importorskip("pandas")
    lifetimes = result.to_pandas("lifetimes")
    dram = lifetimes[lifetimes["memory"] == "dram"]
    peak = max(dram[(dram["start"] <= at) & (at < dram["end"])]["bytes"].sum() for at in dram["start"])
    assert peak == result.live_peak_bytes["dram"]
    assert (dram["address"] + dram["bytes"]).max() <= result.peak_bytes["dram"]


def test_tables_of_others(everything) -> None:
    pytest.importorskip("pandas")
    network, step, _, _, fusion, optimization, _, checkpointing, exploration = everything
    assert len(network.to_pandas()) == len(network.layers()) and network.to_pandas("operators")["macs"].sum() > 0
    assert step.to_pandas()["bytes"].sum() == sum(saved["bytes"] for saved in step.saved)
    assert len(step.to_pandas("trained")) == step.parameter_tensors and step.to_pandas("trained")["trained"].all()
    assert len(step.to_pandas("layers")) == sum(step.nodes.values())
    assert fusion.to_pandas()["size"].sum() == fusion.operators
    for searched in (optimization, checkpointing):
        assert list(searched.to_pandas()["energy_pj"]) == [plan.energy_pj for plan in searched.plans]
    designs = exploration.to_pandas()
    assert len(designs) == exploration.seen and (designs["status"] == "ran").sum() == exploration.evaluated
    assert len(exploration.to_pandas("front")) == len(exploration.front)
    assert set(exploration.to_pandas("sensitivities")["parameter"]) == set(exploration.parameters)


def test_parquet(result, exploration, optimization, tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    for table in ("operators", "memories", "resources", "phases", "critical_path", "lifetimes", "trace"):
        result.to_parquet(tmp_path / "t.parquet", table)
        again = pandas.read_parquet(tmp_path / "t.parquet")
        frame = result.to_pandas(table)
        assert list(again.columns) == list(frame.columns) and len(again) == len(frame)
        for column in frame.select_dtypes("number"):
            assert (again[column] == frame[column]).all() or frame[column].isna().any(), (table, column)
    for other in (exploration, optimization):
        other.to_parquet(tmp_path / "t.parquet")
        assert len(pandas.read_parquet(tmp_path / "t.parquet")) == len(other.to_pandas())
    with pytest.raises(monet.Error, match="cannot be written"):
        result.to_parquet(tmp_path / "absent" / "t.parquet")


def test_plots_of_a_result(result, plots, tmp_path: Path) -> None:
    ax = result.plot_memory()
    dram = next(memory for memory in result.memories if memory["name"] == "dram")
    assert ax.get_legend_handles_labels()[1][: len(dram["curve"]["roles"])] == dram["curve"]["roles"]
    assert "dram" in ax.get_ylabel() and "time" in ax.get_xlabel()
    assert "sram" in result.plot_memory("pe0_0/sram").get_ylabel()
    ax = result.plot_schedule()
    assert {label.get_text() for label in ax.get_yticklabels()} >= {"pe0_0", "pe1_1", "simd"}
    assert {"forward", "backward", "optimizer"} <= set(ax.get_legend_handles_labels()[1])
    assert len(result.plot_schedule(links=True).get_yticks()) > len(ax.get_yticks())
    joules = sum(bar.get_width() for bar in result.plot_energy().patches)
    unit = {"mJ": 1e-9, "µJ": 1e-6, "J": 1e-12}[result.plot_energy().get_xlabel().split("[")[1].rstrip("]")]
    assert joules == pytest.approx(result.energy_pj * unit)
    for by in ("operator", "phase"):
        assert len(result.plot_energy(by=by).patches) > 1
    ax.figure.savefig(tmp_path / "plot.png")
    own = plots.subplots()[1]
    assert result.plot_memory(ax=own) is own


def test_plots_of_searches(optimization, checkpointing, exploration, plots) -> None:
    for searched in (optimization, checkpointing):
        points = searched.plot_front().collections[0].get_offsets()
        assert sorted(map(tuple, points)) == sorted((p.latency_cycles, p.energy_pj) for p in searched.plans)
    assert optimization.plot_front("latency_s", "peak_bytes").get_ylabel() == "peak memory [bytes]"
    ax = exploration.plot_front()
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("latency", "energy")
    designs, front = ax.collections
    assert len(front.get_offsets()) == len(exploration.front)
    assert len(designs.get_offsets()) == exploration.seen
    assert exploration.plot_front("area", "edp").get_ylabel() == "edp"


@pytest.mark.parametrize(
    ("call", "message", "advice"),
    [
        (lambda r, o: r.to_pandas("operator"), "has no table 'operator'", "did you mean 'operators'?"),
        (lambda r, o: r.plot_memory("drum"), "there is no memory 'drum'", "did you mean 'dram'?"),
        (lambda r, o: r.plot_energy(by="phases"), "energy by 'phases'", "'phase'"),
        (lambda r, o: o.plot_front("latency"), "no 'latency' to plot", "latency_"),
    ],
)
def test_errors(call, message: str, advice: str, result, optimization, plots) -> None:
    pytest.importorskip("pandas")
    with pytest.raises(monet.Error, match=message) as caught:
        call(result, optimization)
    assert advice in caught.value.advice


class Checked(HTMLParser):
    """Every element is closed, and the text is kept."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag, attributes) -> None:
        self.open.append(tag)

    def handle_endtag(self, tag) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data) -> None:
        self.text += data + " "


def test_notebooks(everything) -> None:
    for shown in everything:
        page = Checked()
        page.feed(shown._repr_html_())
        assert not page.open and page.text.strip()
        assert "color:#" not in shown._repr_html_(), "colours are the notebook's: light or dark"
    assert "latency" in everything[3]._repr_html_() and "layers.1" in everything[3]._repr_html_()


def test_names_are_escaped(result) -> None:
    evil = copy.copy(result)
    evil._fields = result.to_dict() | {"model": "<script>alert(1)</script>"}
    assert "<script>" not in evil._repr_html_()


def test_words_for_people(everything) -> None:
    for each in everything:
        assert repr(each).startswith("<monet.") and repr(each).endswith(">")
    network, step, machine, result, fusion, optimization, plan, checkpointing, exploration = everything
    for each in (step, result, fusion, optimization, checkpointing, exploration):
        assert len(each.to_text().splitlines()) > 2
    for each in (result, optimization, checkpointing, exploration):
        assert "," in each.to_csv().splitlines()[0]
    assert json.loads(result.to_trace())


def test_a_result_read_again(result, tmp_path: Path, machine) -> None:
    pytest.importorskip("pandas")
    folder = result.save(tmp_path / "result")
    for place in (folder, folder / "result.json"):
        again = monet.read_result(place)
        assert isinstance(again, monet.Result) and again.to_dict() == result.to_dict()
        assert again.plan == result.plan and len(again.to_pandas()) == len(result.operators)
        with pytest.raises(monet.Error, match="was read or copied"):
            again.to_pandas("trace")
    plan = monet.evaluate(monet.load(NETWORK, batch=4), machine, plan=again)
    assert plan.latency_cycles == result.latency_cycles


def test_a_result_of_another_name(result, optimization, machine, tmp_path: Path) -> None:
    """result.json and its details belong to another result of the same folder."""
    other = monet.evaluate(monet.load(NETWORK, batch=8), machine)
    folder = other.save(tmp_path / "runs")
    (folder / "a.json").write_text(result.to_json())
    again = monet.read_result(folder / "a.json")
    assert again.to_dict() == result.to_dict()
    with pytest.raises(monet.Error, match="was read or copied"):
        again.plan
    changes = monet.compare(again, monet.read_result(folder))
    assert (changes.a, changes.b) == (str(folder / "a.json"), str(folder))
    assert str(folder / "a.json") in changes.to_text() and "monet-" not in changes.to_text()
    latency = next(row for row in changes.rows if row["part"] == "latency")
    assert (latency["a"], latency["b"]) == (result.latency_cycles, other.latency_cycles)
    again.report(tmp_path / "a.html")
    alone = tmp_path / "alone" / "result.json"
    alone.parent.mkdir()
    alone.write_text(again.to_json())
    monet.read_result(alone).report(tmp_path / "alone.html")
    assert (tmp_path / "a.html").read_text() == (tmp_path / "alone.html").read_text()
    monet.report(tmp_path / "two.html", again, result)
    assert "/monet-" not in (tmp_path / "two.html").read_text()

    folder = optimization.save(tmp_path / "plans")
    (folder / "a.json").write_text(optimization.to_json())
    with pytest.raises(monet.Error, match="the plan was not read"):
        monet.read_result(folder / "a.json").best.plan


def test_plans_read_again(optimization, checkpointing, tmp_path: Path, machine) -> None:
    for kind, searched in ((monet.Optimization, optimization), (monet.Checkpointing, checkpointing)):
        folder = searched.save(tmp_path / kind.__name__)
        again = monet.read_result(folder)
        assert isinstance(again, kind) and again.to_dict() == searched.to_dict()
        assert [plan.plan for plan in again.plans] == [plan.plan for plan in searched.plans]
    found = monet.evaluate(NETWORK, machine, plan=monet.read_result(tmp_path / "Optimization").best)
    assert found.latency_cycles == optimization.best.latency_cycles


def test_a_plan_as_file_text_or_object(optimization, machine, tmp_path: Path) -> None:
    best = optimization.best
    best.save(tmp_path / "plan.yaml")
    latencies = {
        monet.evaluate(NETWORK, machine, plan=plan).latency_cycles for plan in (best, best.plan, tmp_path / "plan.yaml")
    }
    assert latencies == {best.latency_cycles}


def test_a_store_read_again(exploration, tmp_path: Path) -> None:
    exploration.save_store(tmp_path / "store.sqlite")
    again = monet.read_result(tmp_path / "store.sqlite")
    assert isinstance(again, monet.Exploration) and again.front == exploration.front
    with pytest.raises(monet.Error, match="there is a file of this name"):
        exploration.save_store(tmp_path / "store.sqlite")
    folder = exploration.save(tmp_path / "folder")
    assert (folder / "designs.csv").read_text() == exploration.to_csv()
    assert json.loads((folder / "front.json").read_text())["front"] == exploration.front


def test_an_exploration_in_a_folder(exploration, program: Path, tmp_path: Path) -> None:
    """With its store, which would be gone otherwise; also where the folder was moved to."""
    folder = exploration.save(tmp_path / "made")
    exploration.save(folder)
    assert sorted(p.name for p in folder.iterdir()) == ["designs.csv", "front.json", "report.html", "store.sqlite"]
    for file in ("front.json", "report.html"):
        assert exploration.store not in (folder / file).read_text()
    assert monet.read_result(folder / "store.sqlite").front == exploration.front
    for name in ("made", "moved"):
        folder = folder.rename(tmp_path / name)
        subprocess.run([program, "report", folder, "-o", tmp_path / "page.html", "-q"], check=True)
        assert (tmp_path / "page.html").stat().st_size > 1000
    with pytest.raises(monet.Error, match="there is a file of this name"):
        monet.explore("mcu", samples=5).save(folder)
    named = monet.explore("mcu", samples=5, store=tmp_path / "own.sqlite").save(tmp_path / "named")
    assert json.loads((named / "front.json").read_text())["store"] == str(tmp_path / "own.sqlite")
    assert not (named / "store.sqlite").exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "cannot be read: No such file"),
        ("{", "no JSON object"),
        ("[]", "no JSON object"),
        ('{"schema": 7}', "of this version"),
        ('{"schema": 1, "command": "inspect"}', "no result of evaluate"),
    ],
)
def test_what_cannot_be_read(text: str | None, message: str, tmp_path: Path) -> None:
    file = tmp_path / "result.json"
    if text is not None:
        file.write_text(text)
    with pytest.raises(monet.Error, match=message) as caught:
        monet.read_result(tmp_path)
    assert caught.value.place == str(file)


def test_what_cannot_be_written(result, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(monet.Error, match="cannot be made"):
        result.save(tmp_path / "file" / "folder")
    with pytest.raises(monet.Error, match="cannot be written"):
        result.report(tmp_path / "absent" / "x.html")


def test_reports(result, optimization, checkpointing, exploration, tmp_path: Path) -> None:
    for i, each in enumerate((result, optimization, checkpointing, exploration)):
        each.report(tmp_path / f"{i}.html")
        assert (tmp_path / f"{i}.html").read_text().lstrip().lower().startswith("<!doctype html>")
    monet.read_result(result.save(tmp_path / "saved")).report(tmp_path / "again.html")
    monet.report(tmp_path / "two.html", result, tmp_path / "saved", title="Two")
    assert (tmp_path / "again.html").exists() and (tmp_path / "two.html").exists()


def test_copies_and_pickles(everything) -> None:
    for each in everything:
        for again in (copy.deepcopy(each), pickle.loads(pickle.dumps(each))) if each is not everything[-1] else ():
            assert again.to_dict() == each.to_dict() and repr(again) == repr(each)
    with pytest.raises(monet.Error, match="this Step was read or copied"):
        copy.copy(everything[1]).to_text()


def test_no_plan_fits(machine) -> None:
    none = monet.checkpoint(NETWORK, machine, memory_budget="1KiB", evaluations=10)
    assert not none.feasible and none.plans == [] and "nothing fits" in repr(none) and "✗" in none._repr_html_()
    with pytest.raises(monet.Error, match="no plan fits 1 KiB of dram") as caught:
        none.best
    assert caught.value.kind == "infeasible"


@pytest.mark.parametrize("package", ["pandas", "matplotlib", "pyarrow"])
def test_packages_that_are_absent(package: str) -> None:
    """The package works without them, and says what to install for what needs them."""
    program = f"""
import sys
sys.modules["{package}"] = None
import monet
result = monet.evaluate("{NETWORK}", "edge_tpu")
call = {{"pandas": result.to_pandas, "matplotlib": result.plot_memory, "pyarrow": lambda: result.to_parquet("x")}}
try:
    call["{package}"]()
except ImportError as error:
    assert isinstance(error, monet.Error) and isinstance(error, monet.MissingPackage)
    print(error)
"""
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert f"needs {package}" in said and "pip install 'monet-train[notebook]'" in said
