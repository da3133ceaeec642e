"""Numbers with units that a person reads."""

from __future__ import annotations

from typing import Any

_SECONDS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
_JOULES = ((1.0, "J"), (1e-3, "mJ"), (1e-6, "µJ"), (1e-9, "nJ"), (1e-12, "pJ"))
_BYTES = ((2.0**40, "TiB"), (2.0**30, "GiB"), (2.0**20, "MiB"), (2.0**10, "KiB"))


def scale(value: float, units: tuple[tuple[float, str], ...]) -> tuple[float, str]:
    """The largest unit in which the value is 1 or more."""
    return next((unit for unit in units if abs(value) >= unit[0]), units[-1])


def seconds_scale(seconds: float) -> tuple[float, str]:
    return scale(seconds, _SECONDS)


def joules_scale(joules: float) -> tuple[float, str]:
    return scale(joules, _JOULES)


def bytes_scale(count: float) -> tuple[float, str]:
    return scale(count, (*_BYTES, (1.0, "B")))


def _text(value: float, unit: tuple[float, str]) -> str:
    return f"{value / unit[0]:.4g} {unit[1]}"


def seconds(value: float) -> str:
    return _text(value, seconds_scale(value))


def joules(picojoules: float) -> str:
    value = picojoules * 1e-12
    return _text(value, joules_scale(value))


def size(count: float) -> str:
    return _text(count, bytes_scale(count))


def latency(fields: Any) -> str:
    """Of anything with latency_s and latency_cycles; without a clock there are only cycles."""
    return seconds(fields["latency_s"]) if fields.get("latency_s") else f"{fields['latency_cycles']:,.0f} cycles"


def change(now: float, then: float) -> str:
    return f"{100 * (now / then - 1):+.1f} %" if then else ""
