"""Resize and Upsample: F.interpolate where it has the same rule, else a matrix for each axis from ONNX's definition."""

from __future__ import annotations

import math

import numpy as np
import torch
import torch.nn.functional as F

from torch_runner.node import Node, operator

LINEAR = {3: "linear", 4: "bilinear", 5: "trilinear"}


class Axis:
    """One axis of `size` elements that becomes `wanted` ones; `scale` may differ from their ratio."""

    def __init__(self, size: int, wanted: int, scale: float, region: tuple[float, float]):
        self.size, self.wanted, self.scale, self.region = size, wanted, scale, region

    def coordinate(self, i: int, rule: str) -> float:
        """Where output i lies in the input."""
        size, wanted, scale = self.size, self.wanted, self.scale
        if rule == "align_corners":
            return 0.0 if wanted == 1 else i * (size - 1) / (wanted - 1)
        if rule == "asymmetric":
            return i / scale
        if rule == "tf_crop_and_resize":
            first, last = self.region
            if wanted == 1:
                return 0.5 * (first + last) * (size - 1)
            return first * (size - 1) + i * (last - first) * (size - 1) / (wanted - 1)
        if rule == "pytorch_half_pixel" and wanted == 1:
            return 0.0
        centre = (i + 0.5) / scale - 0.5
        if rule == "half_pixel_symmetric":
            adjustment = wanted / (scale * size)
            return centre + size / 2 * (1 - adjustment)
        return centre


def nearest_weights(x: float, rule: str) -> dict[int, float]:
    place = {"round_prefer_floor": lambda: math.ceil(x - 0.5), "round_prefer_ceil": lambda: math.floor(x + 0.5),
             "floor": lambda: math.floor(x), "ceil": lambda: math.ceil(x)}[rule]()
    return {place: 1.0}


def linear_weights(x: float) -> dict[int, float]:
    left = math.floor(x)
    return {left: 1 - (x - left), left + 1: x - left}


def cubic_weights(x: float, a: float) -> dict[int, float]:
    left = math.floor(x)
    weights = {}
    for place in range(left - 1, left + 3):
        d = abs(x - place)
        weights[place] = ((a + 2) * d**3 - (a + 3) * d**2 + 1 if d <= 1 else
                          a * d**3 - 5 * a * d**2 + 8 * a * d - 4 * a if d < 2 else 0.0)
    return weights


def matrix(n: Node, axis: Axis) -> tuple[np.ndarray, np.ndarray]:
    """([wanted, size] weights, which outputs lie outside)."""
    mode = n.attribute("mode", "nearest")
    older = "asymmetric" if n.opset < 11 or n.op == "Upsample" else "half_pixel"
    rule = n.attribute("coordinate_transformation_mode", older)
    early = "floor" if axis.scale >= 1 else "ceil"
    nearest = n.attribute("nearest_mode", "round_prefer_floor" if older == "half_pixel" else early)
    weights, outside = np.zeros((axis.wanted, axis.size)), np.zeros(axis.wanted, bool)
    for i in range(axis.wanted):
        x = axis.coordinate(i, rule)
        outside[i] = rule == "tf_crop_and_resize" and not 0 <= x <= axis.size - 1
        if outside[i]:
            continue
        if mode == "nearest":
            parts = nearest_weights(x, nearest)
        elif mode == "linear":
            parts = linear_weights(x)
        else:
            parts = cubic_weights(x, n.attribute("cubic_coeff_a", -0.75))
        if mode == "cubic" and n.attribute("exclude_outside", 0):
            parts = {place: w for place, w in parts.items() if 0 <= place < axis.size}
            parts = {place: w / sum(parts.values()) for place, w in parts.items()}
        for place, weight in parts.items():
            weights[i, min(max(place, 0), axis.size - 1)] += weight
    return weights, outside


def plan(n: Node) -> list[Axis]:
    """What happens to each axis of the input."""
    x = n.input()
    early = n.op == "Upsample" or n.opset < 11
    axes = [axis % x.dim() for axis in n.attribute("axes", list(range(x.dim())))]
    scales = n.input(1) if early else n.input(2)
    scales = n.attribute("scales", []) if scales is None else scales.tolist()
    sizes = n.input(3).tolist() if not early and n.has(3) else []
    roi = n.input(1).tolist() if not early and n.has(1) else []
    policy = n.attribute("keep_aspect_ratio_policy", "stretch")
    if sizes and policy != "stretch":
        pick = min if policy == "not_larger" else max
        factor = pick(size / x.shape[axis] for size, axis in zip(sizes, axes))
        scales = [factor] * len(axes)
        sizes = [math.floor(factor * x.shape[axis] + 0.5) for axis in axes]
    result = [Axis(size, size, 1.0, (0.0, 1.0)) for size in x.shape]
    for i, axis in enumerate(axes):
        size = x.shape[axis]
        region = (roi[i], roi[i + len(axes)]) if roi else (0.0, 1.0)
        if sizes:
            result[axis] = Axis(size, sizes[i], scales[i] if scales else sizes[i] / size, region)
        else:
            wanted = math.floor(float(np.float32(size) * np.float32(scales[i])))
            result[axis] = Axis(size, wanted, scales[i], region)
    return result


def interpolate_mode(n: Node, axes: list[Axis]) -> dict | None:
    """Options with which F.interpolate does what the node says; None: it cannot."""
    rank = len(axes)
    if rank not in LINEAR or any(axis.size != axis.wanted for axis in axes[:2]) or n.opset < 11:
        return None
    if any(axis.scale != axis.wanted / axis.size for axis in axes):
        return None
    rule, mode = n.attribute("coordinate_transformation_mode", "half_pixel"), n.attribute("mode", "nearest")
    if mode == "nearest":
        same = rule == "asymmetric" and n.attribute("nearest_mode", "round_prefer_floor") == "floor"
        return {"mode": "nearest"} if same else None
    if mode == "cubic" and (rank != 4 or n.attribute("cubic_coeff_a", -0.75) != -0.75 or
                            n.attribute("exclude_outside", 0)):
        return None
    name = LINEAR[rank] if mode == "linear" else "bicubic"
    if rule == "align_corners":
        return {"mode": name, "align_corners": True}
    return {"mode": name, "align_corners": False} if rule == "half_pixel" else None


@operator("Resize", "Upsample")
def resize(n: Node):
    x, axes = n.input(), plan(n)
    options = interpolate_mode(n, axes)
    if options:
        return F.interpolate(x, size=[axis.wanted for axis in axes[2:]], **options)
    for k, axis in enumerate(axes):
        if axis.size == axis.wanted and axis.scale == 1 and axis.region == (0, 1):
            continue
        weights, outside = matrix(n, axis)
        x = torch.tensordot(x, torch.from_numpy(weights).to(x.dtype), ([k], [1])).movedim(-1, k)
        fill = torch.tensor(outside).reshape([-1 if i == k else 1 for i in range(x.dim())])
        x = torch.where(fill, n.attribute("extrapolation_value", 0.0), x)
    return x
