"""A training step, or inference, of a network on a machine, in time."""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from typing import Any

from monet import _core
from monet._json_object import JsonObject
from monet.errors import Error
from monet.machine import Hardware
from monet.network import Network

# Given by arguments of their own.
_BY_ARGUMENT = {"hardware", "parameters", "inference", "plan", "batch", "precision", "dimensions"}
OPTIONS = sorted(name for name in dir(_core.EvaluateOptions) if not name.startswith("_") and name not in _BY_ARGUMENT)


class Result(JsonObject):
    """What `evaluate` found. Its attributes are the fields of `monet evaluate --json`, with the same numbers:

    latency_s, latency_cycles, energy_pj, energy_breakdown, peak_bytes, live_peak_bytes, footprint_bytes, macs,
    utilization, fits, does_not_fit, bound, phases, operators, resources, memories, critical_path, warnings, notes, …
    """

    def __init__(self, evaluation: _core.Evaluation) -> None:
        super().__init__(evaluation.to_json())
        self._evaluation = evaluation

    @property
    def plan(self) -> str:
        """The plan, complete, as a file: it gives the same result again."""
        return self._evaluation.plan_yaml

    def to_text(self, operators: int = 15, tensors: int = 10) -> str:
        """Tables for people; so many rows of operators and of tensors at the peak, 0: all."""
        return self._evaluation.to_text(operators, tensors)

    def to_csv(self) -> str:
        """A line for each operator."""
        return self._evaluation.to_csv()

    def __repr__(self) -> str:
        time = f"{self.latency_s:.4g} s" if self.latency_s is not None else f"{self.latency_cycles:.4g} cycles"
        fits = "" if self.fits else ", does not fit"
        return f"<monet.Result {self.model} on {self.hardware}: {time}, {self.energy_pj * 1e-12:.4g} J{fits}>"


def _set(options: _core.EvaluateOptions, name: str, value: object) -> None:
    if isinstance(value, Mapping):
        value = list(value.items())
    try:
        setattr(options, name, value)
    except TypeError:
        raise Error(f"{value!r} is no value for the option '{name}'", advice="docs/python.md lists options") from None


def evaluate(
    network: Network | str | os.PathLike[str],
    hardware: Hardware | str | os.PathLike[str],
    *,
    training: bool = True,
    plan: str | os.PathLike[str] | None = None,
    batch: int | None = None,
    precision: str | None = None,
    dimensions: Mapping[str, int] | None = None,
    **options: Any,
) -> Result:
    """A training step (or inference: training=False) of a network on a machine.

    network, hardware  what `load` and `hardware` gave, or what these take
    plan               a file; what it leaves out is decided by the default policy
    batch, precision, dimensions   instead of the network's own
    options            all others of `monet evaluate`, with _ for -: optimizer="sgd", recompute=["blocks"], check=False
    """
    if not isinstance(network, Network):
        network = Network(os.fspath(network), batch, precision, dimensions or {})
    settings = _core.EvaluateOptions()
    settings.inference = not training
    if isinstance(hardware, Hardware):
        settings.hardware, settings.parameters = hardware.source, list(hardware.chosen.items())
    else:
        settings.hardware = os.fspath(hardware)
    settings.plan = os.fspath(plan) if plan is not None else ""
    _set(settings, "batch", network.batch if batch is None else batch)
    _set(settings, "precision", precision or network.precision or "")
    _set(settings, "dimensions", network.dimensions if dimensions is None else dimensions)
    for name, value in options.items():
        if name not in OPTIONS:
            near = difflib.get_close_matches(name, OPTIONS, 1)
            advice = f"did you mean '{near[0]}'?" if near else f"there are {', '.join(OPTIONS)}"
            raise Error(f"evaluate has no option '{name}'", advice=advice)
        _set(settings, name, value)
    return Result(_core.evaluate(network.source, settings))
