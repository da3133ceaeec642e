"""What is evaluated or searched: a network or a step on a machine."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from monet import _core, _options
from monet._options import Plan
from monet.machine import Hardware
from monet.network import Network, Step, put_network

NetworkOrStep: TypeAlias = Network | Step | str | os.PathLike[str]
Machine: TypeAlias = Hardware | str | os.PathLike[str]
# By type of operator: (cycles, energy_pj) of a tile, or None.
Costs: TypeAlias = Mapping[str, Callable[[_core.CustomTile], tuple[float, float] | None]]


def put_network_or_step(
    settings: _core.StepRequest, network: NetworkOrStep, sizes: Mapping[str, Any]
) -> tuple[_core.Network, Plan | None]:
    """The network and the plan of its step; its sizes and its options go to `settings`."""
    plan = None
    if isinstance(network, Step):
        source = network.network._value
        put_network(settings, network.network)
        _options.apply("train", network.options, settings)
        plan = network._plan
    elif isinstance(network, Network):
        source = network._value
        put_network(settings, network)
    else:
        source = _core.Network(os.fspath(network))
    for name, value in sizes.items():
        if value is not None:
            _options.put(settings, name, value)
    return source, plan


def prepared(
    who: str,
    network: NetworkOrStep,
    machine: Machine,
    plan: Plan | None,
    sizes: Mapping[str, Any],
    options: Mapping[str, Any],
    search: object | None = None,
    step_options: Sequence[str] = (),
) -> tuple[_core.Network, _core.StepRequest]:
    """The network and the options of its step; what a search has of its own goes to `search`, which takes those of
    `step_options` besides."""
    settings: _core.StepRequest = _core.StepRequest() if search is None else getattr(search, "evaluate")
    source, own_plan = put_network_or_step(settings, network, sizes)
    plan = own_plan if plan is None else plan
    settings.machine = machine._value if isinstance(machine, Hardware) else _core.Machine(os.fspath(machine), [])
    targets = [settings] if search is None else [search, settings]
    of_step = [*_core.STEP_OPTIONS, *step_options] if step_options else []
    _options.apply(who, options, *targets, names_of_last=of_step)
    settings.plan = _options.plan_value(plan)
    return source, settings
