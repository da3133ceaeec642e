"""Are results what their published schemas say, with every field described, and are the schemas themselves sound?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import run_command

TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None), "integer": int, "number": (int, float)}


def is_of(value: object, name: str) -> bool:
    return isinstance(value, TYPES[name]) and not (isinstance(value, bool) and name in ("integer", "number"))


def mistakes(value: object, schema: dict, place: str = "") -> list[str]:
    """What JSON Schema says of the words that our schemas use; and fields that they do not describe."""
    unknown = set(schema) - {"$schema", "title", "description", "type", "properties", "required", "items", "additionalProperties", "const", "enum"}
    assert not unknown, unknown
    if "const" in schema and value != schema["const"]:
        return [f"{place} is not {schema['const']}"]
    if "enum" in schema and value not in schema["enum"]:
        return [f"{place} is none of {schema['enum']}"]
    types = schema.get("type", [])
    types = [types] if isinstance(types, str) else types
    if types and not any(is_of(value, name) for name in types):
        return [f"{place} is {value!r:.40}, not {types}"]
    found = []
    if isinstance(value, list) and schema.get("items"):
        found += [m for i, item in enumerate(value) for m in mistakes(item, schema["items"], f"{place}[{i}]")]
    if isinstance(value, dict):
        found += [f"{place}.{name} is missing" for name in schema.get("required", []) if name not in value]
        for name, item in value.items():
            inner = schema.get("properties", {}).get(name, schema.get("additionalProperties"))
            found += [f"{place}.{name} is not described"] if inner is None else mistakes(item, inner, f"{place}.{name}")
    return found


def schema_of(monet: Path, name: str) -> dict:
    return json.loads(run_command(monet, "schema", name).stdout)


STEP = ["--batch", "4", "--hardware", "edge_tpu"]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("result", ["evaluate", "lenet5", *STEP, "--suggest"]),
        ("result", ["evaluate", "lenet5", "--hardware", "h200", "--batch", "2"]),
        ("result", ["evaluate", "lenet5", "--hardware", "monet_2x2", "--inference"]),
        ("result", ["evaluate", "gpt2-tiny", "--hardware", "dgx_h100", "--batch", "8", "--chips", "4", "--parallel", "dp=2,tp=2"]),
        ("result", ["evaluate", "gpt2-tiny", "--hardware", "dgx_h100", "--batch", "8", "--chips", "4", "--parallel", "pp=2,dp=2"]),
        ("inspect", ["inspect", "mlp-robotics", "--layers"]),
        ("train", ["train", "mlp-robotics", "--batch", "4"]),
        ("map", ["map", "lenet5", "--hardware", "edge_tpu"]),
        ("map", ["map", "lenet5", "--hardware", "h200"]),
        ("fuse", ["fuse", "mlp-robotics", *STEP]),
        ("checkpoint", ["checkpoint", "mlp-robotics", *STEP]),
        ("optimize", ["optimize", "mlp-robotics", *STEP, "--evaluations", "5"]),
        ("networks", ["networks", "lenet5"]),
        ("hardware", ["hardware", "show", "dgx_h100"]),
        ("hardware", ["hardware", "show", "eyeriss_like_quad_core"]),
        ("hardware_list", ["hardware", "list"]),
        ("hardware_check", ["hardware", "check", "edge_tpu", "--network", "lenet5"]),
        ("validate", ["validate", "counts"]),
        ("precision_list", ["precision", "list"]),
        ("collective", ["collective", "all_reduce", "--bytes", "1MiB", "--hardware", "dgx_h100", "--chips", "16"]),
    ],
    ids=lambda value: value if isinstance(value, str) else "-".join(value[:3]),
)
def test_what_is_printed(monet: Path, name: str, arguments: list[str]) -> None:
    answer = run_command(monet, *arguments, "--json", "-q")
    assert answer.returncode == 0, answer.stderr
    assert mistakes(json.loads(answer.stdout), schema_of(monet, name)) == []


def test_explorations_and_what_is_made_of_folders(monet: Path, tmp_path: Path) -> None:
    explore = ["explore", "mcu", "--network", "mlp-robotics", "--samples", "6", "--store", tmp_path / "s.sqlite"]
    found = json.loads(run_command(monet, *explore, "--json", "-q").stdout)
    assert mistakes(found, schema_of(monet, "explore")) == []
    for folder, batch in (("a", "4"), ("b", "8")):
        run_command(monet, "evaluate", "lenet5", "--hardware", "edge_tpu", "--batch", batch, "-o", tmp_path / folder, "-q")
        assert mistakes(json.loads((tmp_path / folder / "result.json").read_text()), schema_of(monet, "result")) == []
    compared = json.loads(run_command(monet, "compare", tmp_path / "a", tmp_path / "b", "--json", "-q").stdout)
    assert mistakes(compared, schema_of(monet, "compare")) == []
    page = run_command(monet, "report", tmp_path / "a", "-o", tmp_path / "page.html", "--json", "-q")
    assert mistakes(json.loads(page.stdout), schema_of(monet, "report")) == []


def test_the_solvers(monet: Path, tmp_path: Path) -> None:
    (tmp_path / "b.csv").write_text("id,lower,upper,size\na,0,3,100\nb,2,5,50\n")
    packed = json.loads(run_command(monet, "pack", tmp_path / "b.csv", "--json", "-q").stdout)
    assert mistakes(packed, schema_of(monet, "pack")) == []
    nodes = [{"id": i, "name": f"n{i}", "cost_cpu": 10, "cost_ram": 100} for i in range(6)]
    links = [{"source": i, "target": i + 1} for i in range(5)] + [{"source": 0, "target": 5}]
    (tmp_path / "g.json").write_text(json.dumps({"directed": True, "nodes": nodes, "links": links}))
    solved = json.loads(run_command(monet, "remat", tmp_path / "g.json", "--budget", "300B", "--json", "-q").stdout)
    assert mistakes(solved, schema_of(monet, "remat")) == []


def test_what_a_schema_refuses(monet: Path) -> None:
    schema = schema_of(monet, "result")
    result = json.loads(run_command(monet, "evaluate", "lenet5", *STEP, "--json", "-q").stdout)
    assert mistakes({**result, "latency_cycles": "many"}, schema) and mistakes({**result, "bound": 3}, schema)
    del result["energy_pj"]
    assert mistakes(result, schema) == [".energy_pj is missing"]


def test_all_are_json_and_one_that_is_none(monet: Path) -> None:
    listed = run_command(monet, "schema", "--help").stdout
    names = [path.stem for path in (Path(__file__).parents[2] / "schemas").glob("*.json")]
    for name in [*names, "machine"]:
        assert name in listed
        assert schema_of(monet, name)["$schema"].endswith("2020-12/schema")
    wrong = run_command(monet, "schema", "resul")
    assert wrong.returncode == 1 and "did you mean 'result'?" in wrong.stderr
