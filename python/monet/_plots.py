"""Plots of results, with matplotlib."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from monet import _packages, _units
from monet._options import nearest
from monet.errors import Error

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Colours that colour-blind people tell apart (Okabe and Ito, 2008), in a fixed order so that plots can be compared.
_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#999999")
_PHASES = {"forward": _COLOURS[0], "backward": _COLOURS[1], "optimizer": _COLOURS[2]}
_CRITICAL = "#D00000"
_MOST_BARS = 15
_NAMES = {
    "latency_cycles": "latency [cycles]",
    "latency_s": "latency [s]",
    "energy_pj": "energy [pJ]",
    "peak_bytes": "peak memory [bytes]",
    "saved_bytes_dropped": "saved bytes dropped",
    "saved_bytes": "saved bytes",
    "value": "objective",
    "loss": "held-out loss",
    "accuracy": "held-out accuracy",
}


def _axes(ax: Axes | None, width: float, height: float) -> Axes:
    if ax is not None:
        return ax
    axes: Axes = _packages.pyplot().subplots(figsize=(width, height), layout="constrained")[1]
    return axes


def _time(result: Any, ax: Axes) -> float:
    """What a cycle is on the axis of time."""
    if not result.clock_hz:
        ax.set_xlabel("cycles")
        return 1.0
    unit, name = _units.seconds_scale(result.latency_cycles / result.clock_hz)
    ax.set_xlabel(f"time [{name}]")
    return 1.0 / float(result.clock_hz) / unit


def memory(result: Any, name: str | None, ax: Axes | None) -> Axes:
    memories = {each["name"]: each for each in result.memories}
    if name is None:
        name = max(memories, key=lambda each: memories[each]["live_peak_bytes"])
    if name not in memories:
        raise Error(f"there is no memory '{name}'", advice=nearest(name, memories))
    chosen = memories[name]
    ax = _axes(ax, 9, 4)
    cycle = _time(result, ax)
    unit, unit_name = _units.bytes_scale(chosen["live_peak_bytes"])
    curve = chosen["curve"]
    at = [*curve["at"], result.latency_cycles]
    rows = [*curve["bytes"], *curve["bytes"][-1:]]  # the last one holds until the end
    layers = [[row[role] / unit for row in rows] for role in range(len(curve["roles"]))] if rows else []
    if layers:
        colours = [_COLOURS[i % len(_COLOURS)] for i in range(len(layers))]
        ax.stackplot([t * cycle for t in at], layers, labels=curve["roles"], colors=colours, step="post", linewidth=0)
    peak = chosen["live_peak_bytes"]
    ax.axvline(chosen["peak_at"] * cycle, color="gray", linestyle=":", linewidth=1)
    ax.annotate(
        f"peak {_units.size(peak)}", (chosen["peak_at"] * cycle, peak / unit), xytext=(4, -10),
        textcoords="offset points",
    )  # fmt: skip
    if 0 < chosen["capacity_bytes"] < 2 * peak:
        ax.axhline(chosen["capacity_bytes"] / unit, color=_CRITICAL, linewidth=1, label="capacity")
    ax.set_ylabel(f"{name} [{unit_name}]")
    ax.set_title(f"{result.model} on {result.hardware}")
    if layers:
        ax.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
    return ax


def schedule(result: Any, trace: dict[str, list[Any]], links: bool, ax: Axes | None) -> Axes:
    shown = ("core ", "link ", "port ") if links else ("core ",)
    tracks = sorted({track for track in trace["track"] if track.startswith(shown)}, key=_track_order)
    if not tracks:
        raise Error("there is no schedule", advice="evaluate with details=True")
    ax = _axes(ax, 11, 1.2 + 0.28 * len(tracks))
    cycle = _time(result, ax)
    row = {track: i for i, track in enumerate(tracks)}
    kinds: dict[tuple[str, str], list[tuple[float, float]]] = {}
    critical: dict[str, list[tuple[float, float]]] = {}
    for track, kind, start, end, on_path in zip(
        trace["track"], trace["kind"], trace["start"], trace["end"], trace["critical"]
    ):
        if track not in row:
            continue
        span = (start * cycle, (end - start) * cycle)
        kinds.setdefault((track, kind), []).append(span)
        if on_path:
            critical.setdefault(track, []).append(span)
    others = sorted({kind for _, kind in kinds if kind not in _PHASES})
    colours = _PHASES | {kind: _COLOURS[(3 + i) % len(_COLOURS)] for i, kind in enumerate(others)}
    labelled = set()
    for (track, kind), spans in kinds.items():
        label = kind if kind not in labelled else None
        labelled.add(kind)
        ax.broken_barh(spans, (row[track] - 0.4, 0.8), facecolors=colours[kind], label=label, linewidth=0)
    for track, spans in critical.items():
        ax.broken_barh(spans, (row[track] - 0.4, 0.8), facecolors="none", edgecolors=_CRITICAL, linewidth=0.6)
    ax.set_yticks(range(len(tracks)), [track.split(" ", 1)[1] for track in tracks])
    ax.invert_yaxis()
    ax.set_xlim(0, result.latency_cycles * cycle)
    ax.set_title(f"{result.model} on {result.hardware}: {_units.latency(result._fields)}")
    ax.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
    return ax


def _track_order(track: str) -> tuple[int, list[tuple[bool, str, int]]]:
    """Cores first; numbers within names as numbers."""
    kind, _, name = track.partition(" ")
    parts = "".join(c if c.isdigit() else f" {c} " for c in name).split()
    return ("core", "link", "port").index(kind), [(p.isdigit(), p, int(p) if p.isdigit() else 0) for p in parts]


def _energies(result: Any, by: str) -> dict[str, float]:
    sums: dict[str, float] = {}
    if by == "part":
        for name, picojoules in result.energy_breakdown.items():
            kind, _, part = name.partition(" ")
            # Equal memories of several cores together: "memory pe0_0/sram".
            key = f"{kind} */{part.rpartition('/')[2]}" if "/" in part else name
            sums[key] = sums.get(key, 0) + picojoules
    elif by in ("operator", "phase"):
        for op in result.operators:
            sums[op[by]] = sums.get(op[by], 0) + op["energy_pj"]
    else:
        raise Error(f"energy by '{by}'", advice=nearest(by, ("part", "operator", "phase")))
    return sums


def energy(result: Any, by: str, ax: Axes | None) -> Axes:
    bars = sorted(_energies(result, by).items(), key=lambda each: -each[1])
    rest = sum(value for _, value in bars[_MOST_BARS:])
    bars = bars[:_MOST_BARS] + ([(f"{len(bars) - _MOST_BARS} others", rest)] if len(bars) > _MOST_BARS else [])
    ax = _axes(ax, 8, 1 + 0.3 * len(bars))
    unit, unit_name = _units.joules_scale(result.energy_pj * 1e-12)
    values = [value * 1e-12 / unit for _, value in bars]
    drawn = ax.barh([name for name, _ in bars], values, color=_COLOURS[0])
    ax.bar_label(drawn, [f"{100 * value * unit / (result.energy_pj * 1e-12):.1f} %" for value in values], padding=3)
    ax.margins(x=0.12)
    ax.invert_yaxis()
    ax.set_xlabel(f"energy [{unit_name}]")
    ax.set_title(f"{result.model} on {result.hardware}: {_units.joules(result.energy_pj)}")
    return ax


def _known(name: str, names: Iterable[str]) -> str:
    names = list(names)
    if name not in names:
        raise Error(f"there is no '{name}' to plot", advice=nearest(name, names))
    return name


def plans(found: list[dict[str, Any]], start: dict[str, Any], x: str, y: str, ax: Axes | None) -> Axes:
    numbers = [name for name in _NAMES if name in start]
    x, y = _known(x, numbers), _known(y, numbers)
    ax = _axes(ax, 6.5, 4.5)
    if found:
        colour = [plan["peak_bytes"] / 2**20 for plan in found]
        points = ax.scatter([p[x] for p in found], [p[y] for p in found], c=colour, cmap="viridis", label="plans")
        ax.figure.colorbar(points, ax=ax, label="peak memory [MiB]")
    ax.scatter([start[x]], [start[y]], marker="x", color=_CRITICAL, label="before")
    ax.set_xlabel(_NAMES[x])
    ax.set_ylabel(_NAMES[y])
    ax.legend(frameon=False)
    return ax


def designs(exploration: Any, x: str | None, y: str | None, ax: Axes | None) -> Axes:
    metrics = list(exploration.front[0]["metrics"]) if exploration.front else []
    names = [*exploration.objectives, *metrics]
    x = _known(x or exploration.objectives[0], names)
    y = _known(y or (exploration.objectives[1:] or ["area_mm2"])[0], names)

    def value(design: dict[str, Any], name: str) -> float:
        return float(design["objectives"].get(name, design["metrics"].get(name)))

    ax = _axes(ax, 6.5, 4.5)
    every = exploration.to_pandas("designs")
    columns = {name: _column_of(name, every.columns) for name in (x, y)}
    if columns[x] and columns[y]:
        ax.scatter(every[columns[x]], every[columns[y]], s=6, color="gray", alpha=0.5, label="designs")
    front = sorted((value(design, x), value(design, y)) for design in exploration.front)
    ax.scatter([p[0] for p in front], [p[1] for p in front], s=20, color=_COLOURS[5], label="front")
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    ax.set_title(str(exploration.space))
    ax.legend(frameon=False)
    return ax


def losses(curves: list[tuple[str, dict[str, Any]]], held_out: bool, ax: Axes | None) -> Axes:
    """Of simulations by name, the first as the others are compared with."""
    ax = _axes(ax, 8, 4.5)
    for i, (name, simulation) in enumerate(curves):
        if held_out:
            measured = simulation["measured"]
            points = [(each["step"], each["loss"]) for each in measured]
        else:
            points = list(enumerate(simulation["losses"], 1))
        # JSON has no infinity: what is no number is None.
        points = [(step, loss) for step, loss in points if loss is not None]
        style = {"color": "black", "linestyle": "--", "linewidth": 1.8} if i == 0 and len(curves) > 1 else {
            "color": _COLOURS[(i - 1) % len(_COLOURS)], "linestyle": ("-", ":", "-.")[(i - 1) // len(_COLOURS) % 3]
        }  # fmt: skip
        ax.plot([step for step, _ in points], [loss for _, loss in points], label=name, **style)
    ax.set_xlabel("step")
    ax.set_ylabel("held-out loss" if held_out else "loss of the batch")
    ax.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
    return ax


def recipes(rows: list[dict[str, Any]], x: str, y: str, ax: Axes | None) -> Axes:
    """Rows with `loss` and `accuracy` of their own; those without a number of both axes are left out."""
    numbers = ["energy_pj", "peak_bytes", "latency_s", "loss", "accuracy"]
    x, y = _known(x, numbers), _known(y, numbers)
    rows = [row for row in rows if row[x] is not None and row[y] is not None]
    ax = _axes(ax, 7, 5)
    for best, label, colour in ((False, "others", _COLOURS[0]), (True, "front", _COLOURS[5])):
        chosen = [row for row in rows if row["best"] is best]
        ax.scatter([row[x] for row in chosen], [row[y] for row in chosen], color=colour, label=label, zorder=3)
    for row in rows:
        ax.annotate(row["recipe"], (row[x], row[y]), xytext=(4, 4), textcoords="offset points", fontsize=8)
    signs = {"accuracy": -1.0}
    front: list[dict[str, Any]] = []
    for row in sorted(rows, key=lambda row: (signs.get(x, 1.0) * row[x], signs.get(y, 1.0) * row[y])):
        if not front or signs.get(y, 1.0) * row[y] < signs.get(y, 1.0) * front[-1][y]:
            front.append(row)
    ax.plot([row[x] for row in front], [row[y] for row in front], color=_COLOURS[5], linewidth=1.2)
    ax.set_xlabel(_NAMES.get(x, x))
    ax.set_ylabel(_NAMES.get(y, y))
    ax.legend(frameon=False)
    return ax


def _column_of(name: str, columns: Iterable[str]) -> str | None:
    """Where the table of designs has a metric or an objective; a function has none."""
    metric, _, workload = name.partition("@")
    fields = {"latency": "latency_s", "energy": "energy_pj", "area": "area_mm2", "memory": "peak_bytes"}
    field = fields.get(metric, metric)
    column = f"{workload}.{field}" if workload else field
    return column if column in set(columns) else None
