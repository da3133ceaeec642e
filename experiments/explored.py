"""What the figures on spaces of machines share: explorations and their tables."""

import csv
import math

from common import ROOT, monet, work_folder


def explore(space, name, *how):
    """All designs of a space: the answer of the program, and its table by design."""
    folder = work_folder("explore")
    store, table = folder / f"{name}.sqlite", folder / f"{name}.csv"
    answer = monet("explore", space, *how, "--store", store, "--resume", "--csv", table)
    with open(table, newline="", encoding="utf-8") as lines:
        rows = [row for row in csv.DictReader(lines) if row["status"] == "ran"]
    return answer, rows


def number(text):
    """512 KiB, 2048 bit/cycle, 8: what comes before the unit, in bytes for sizes."""
    value, _, unit = text.partition(" ")
    return float(value) * {"KiB": 1024, "MiB": 1024**2, "GiB": 1024**3}.get(unit, 1)


def ranks(values):
    """From 1, equal values at their mean."""
    order = sorted(range(len(values)), key=values.__getitem__)
    result, i = [0.0] * len(values), 0
    while i < len(order):
        j = i
        while j + 1 < len(order) and values[order[j + 1]] == values[order[i]]:
            j += 1
        for k in order[i:j + 1]:
            result[k] = (i + j) / 2 + 1
        i = j + 1
    return result


def correlation(a, b):
    mean_a, mean_b = sum(a) / len(a), sum(b) / len(b)
    both = sum((x - mean_a) * (y - mean_b) for x, y in zip(a, b))
    return both / math.sqrt(sum((x - mean_a) ** 2 for x in a) * sum((y - mean_b) ** 2 for y in b))


def rank_correlation(a, b):
    return correlation(ranks(a), ranks(b))


def flat_front(rows, x, y):
    """Rows that are dominated by none in two columns, made small; in the order of the first."""
    best, front = math.inf, []
    for row in sorted(rows, key=lambda row: (row[x], row[y])):
        if row[y] < best:
            front.append(row)
            best = row[y]
    return front


def geometric_mean(values):
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values)) if values else math.nan


def space_file(name):
    return ROOT / "experiments" / "spaces" / name
