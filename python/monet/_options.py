"""Options of the library, by the names of the command line with _ for -."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Mapping
from typing import Any, Protocol, TypeAlias, runtime_checkable

from monet import _core
from monet.errors import Error


@runtime_checkable
class HasPlan(Protocol):
    """A result that is, or has, a plan."""

    @property
    def plan(self) -> str: ...


# A file, the text of one, or a result that has a plan.
Plan: TypeAlias = str | os.PathLike[str] | HasPlan

# Given by arguments of their own.
_BY_ARGUMENT = {"machine", "inference", "plan", "evaluate", "trace", "lifetimes", "graph", "space"}

_EXAMPLES = {
    "batch": "a whole number, as in batch=8",
    "dimensions": "whole numbers, as in dimensions={'sequence': 128}",
}


def names_of(options: object) -> list[str]:
    """Those that a user may give."""
    return [name for name in dir(options) if not name.startswith("_") and name not in _BY_ARGUMENT]


def nearest(name: str, names: Iterable[str]) -> str:
    names = sorted(names)
    near = difflib.get_close_matches(name, names, 1)
    return f"did you mean '{near[0]}'?" if near else f"there are {', '.join(names)}"


def put(options: object, name: str, value: Any) -> None:
    """One option; a mapping is a list of pairs, and one word may stand for a list of one."""
    given = value
    if isinstance(value, Mapping):
        value = list(value.items())
    elif isinstance(value, os.PathLike):
        value = os.fspath(value)
    for attempt in (value, [value]):
        try:
            setattr(options, name, attempt)
            return
        except TypeError:
            if not isinstance(value, str):
                break
    advice = _EXAMPLES.get(name, "docs/python.md lists options")
    raise Error(f"{given!r} is no value for the option '{name}'", advice=advice)


def apply(who: str, given: Mapping[str, Any], *targets: object, names_of_last: Iterable[str] = ()) -> None:
    """All that is given, each to the first of the targets that has an option of that name; of the last only those
    named, if any are."""
    known = [names_of(target) for target in targets]
    if names_of_last:
        known[-1] = list(names_of_last)
    for name, value in given.items():
        for target, names in zip(targets, known):
            if name in names:
                put(target, name, value)
                break
        else:
            raise Error(f"{who} has no option '{name}'", advice=nearest(name, {n for names in known for n in names}))


def plan_value(plan: Plan | None) -> _core.Plan:
    """What was given as a plan, for the library."""
    if isinstance(plan, HasPlan):
        plan = plan.plan
    if plan is None or plan == "":
        return _core.Plan()
    if isinstance(plan, str) and "\n" in plan:
        return _core.Plan.parse(plan, "plan")
    return _core.Plan.read(os.fspath(plan))
