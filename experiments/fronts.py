"""Fronts of points to be made small, and the volume that they dominate."""


def front_of(points):
    """Indices of the points that no other is as good as in all numbers and better in one; of equal ones the first."""
    order = sorted(range(len(points)), key=lambda i: (tuple(points[i]), i))
    found = []
    staircase = []  # (second, third) of those found, for three numbers; the first rises along the order
    for i in order:
        rest = tuple(points[i][1:])
        if any(all(a <= b for a, b in zip(other, rest)) for other in staircase):
            continue
        staircase = [o for o in staircase if not all(a <= b for a, b in zip(rest, o))] + [rest]
        found.append(i)
    return found


def volume(points, corner):
    """What three numbers of each point dominate of the box between the origin and the corner, as a share of it.

    Points are divided by the corner first, so that each number counts alike.
    """
    scaled = sorted(tuple(p / c for p, c in zip(point, corner)) for point in points)
    scaled = [p for p in scaled if all(x < 1 for x in p)]
    total = 0.0
    kept = []
    for i, point in enumerate(scaled):
        kept = [k for k in kept if not (point[1] <= k[0] and point[2] <= k[1])]
        if not any(k[0] <= point[1] and k[1] <= point[2] for k in kept):
            kept.append((point[1], point[2]))
        until = scaled[i + 1][0] if i + 1 < len(scaled) else 1.0
        total += (until - point[0]) * _area(kept)
    return total


def _area(points):
    area, height = 0.0, 1.0
    for x, y in sorted(points):
        if y < height:
            area += (1.0 - x) * (height - y)
            height = y
    return area
