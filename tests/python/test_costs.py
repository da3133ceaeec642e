"""Is the cost of an operator what the user's function says?"""

from __future__ import annotations

import math

import pytest

monet = pytest.importorskip("monet", reason="the Python package is not installed; run `make python`")

NETWORK = "mlp-robotics"
CYCLES, ENERGY = 1000.0, 12345.0


@pytest.fixture(scope="module")
def machine():
    return monet.hardware("edge_tpu", x=2, y=2)


def evaluated(machine, function, **options):
    """Forward part alone."""
    asked = []

    def cost(tile):
        asked.append(tile)
        return function(tile)

    result = monet.evaluate(NETWORK, machine, training=False, costs={"Relu": cost}, **options)
    assert asked
    return result, asked


def test_an_operator_takes_what_its_function_says(machine) -> None:
    result, asked = evaluated(machine, lambda tile: (CYCLES, ENERGY))
    relus = [op for op in result.operators if op["operator"] == "Relu"]
    assert len(relus) == 3
    for op in relus:
        assert op["compute_cycles"] + op["stall_cycles"] + op["load_cycles"] + op["fill_cycles"] == CYCLES * op["tiles"]
    for tile in asked:
        assert tile.op == "Relu" and tile.core and tile.precision
        assert tile.input_shapes == tile.output_shapes and math.prod(size for _, size in tile.loops) > 0


def test_it_is_asked_once_for_equal_tiles(machine) -> None:
    _, asked = evaluated(machine, lambda tile: (CYCLES, ENERGY))
    tiles = [(tile.core, tile.precision, tuple(tile.loops), str(tile.input_shapes), tuple(tile.attributes))
             for tile in asked]  # fmt: skip
    assert len(tiles) == len(set(tiles))


def test_none_is_as_if_it_had_not_been_asked(machine) -> None:
    result, _ = evaluated(machine, lambda tile: None)
    without = monet.evaluate(NETWORK, machine, training=False)
    assert (result.latency_cycles, result.energy_pj) == (without.latency_cycles, without.energy_pj)


def test_what_a_function_raises_is_raised(machine) -> None:
    class Refusal(Exception):
        pass

    def refuse(tile):
        raise Refusal

    evaluated(machine, lambda tile: None)
    with pytest.raises(Refusal):
        evaluated(machine, refuse)


@pytest.mark.parametrize("value", [3, (1.0,), (1.0, 2.0, 3.0), (-1.0, 2.0), (math.nan, 1.0), (1.0, math.inf)])
def test_what_is_no_cost(machine, value) -> None:
    evaluated(machine, lambda tile: None)
    with pytest.raises(monet.Error, match="the cost of 'Relu' is") as caught:
        evaluated(machine, lambda tile: value)
    assert "(cycles, energy_pj)" in caught.value.advice


def test_what_is_no_number(machine) -> None:
    evaluated(machine, lambda tile: None)
    with pytest.raises(TypeError):
        evaluated(machine, lambda tile: ("many", 1.0))


@pytest.mark.parametrize(
    "search",
    [
        lambda machine, costs: monet.fuse(NETWORK, machine, costs=costs, limit=3),
        lambda machine, costs: monet.checkpoint(NETWORK, machine, costs=costs, evaluations=10).best,
        lambda machine, costs: monet.optimize(NETWORK, machine, costs=costs, evaluations=10, generations=2,
                                              population=6).best,
    ],
    ids=["fuse", "checkpoint", "optimize"],
)  # fmt: skip
def test_searches_ask_too(machine, search) -> None:
    """What they found takes as long when it is evaluated with the same costs."""
    costs = {"Relu": lambda tile: (100 * CYCLES, ENERGY)}
    found = search(machine, costs)
    again = monet.evaluate(NETWORK, machine, plan=found, costs=costs)
    assert (again.latency_cycles, again.energy_pj) == (found.latency_cycles, found.energy_pj)
    assert found.latency_cycles > search(machine, None).latency_cycles


def test_what_a_function_raises_ends_a_search(machine) -> None:
    class Refusal(Exception):
        pass

    def refuse(tile):
        raise Refusal

    for search in (monet.fuse, monet.checkpoint, monet.optimize):
        with pytest.raises(Refusal):
            search(NETWORK, machine, costs={"Relu": refuse})


def test_a_file_and_functions(machine, tmp_path) -> None:
    (tmp_path / "costs.yaml").write_text("operators:\n  Relu: {cycles: 1, energy: 1 pJ}\n")
    with pytest.raises(monet.Error, match="both by a file and by a function"):
        evaluated(machine, lambda tile: None, custom=tmp_path / "costs.yaml")
