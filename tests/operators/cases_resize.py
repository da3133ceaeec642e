"""Resize and Upsample: modes, coordinates, sizes and scales, in the versions that differ."""

import numpy as np

from case import case
from cases_view import integers, values

COORDINATES = ("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric")
NEAREST = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")


def scale(*numbers):
    return np.array(numbers, np.float32)


def resize(name, x, opset, scales=None, sizes=None, roi=None, **attributes):
    inputs = {"x": x, "roi": None, "scales": None}
    given = {}
    if roi is not None:
        given["roi"] = scale(*roi)
    if scales is not None:
        given["scales"] = scale(*scales)
    if sizes is not None:
        inputs["sizes"] = None
        given["sizes"] = integers(*sizes)
        if opset < 13:
            given["scales"] = scale()
    if opset < 13 and roi is None:
        given["roi"] = scale()
    return case(name, "Resize", inputs, opset=opset, initializers=given, **attributes)


def early(rng):
    for mode in ("nearest", "linear"):
        for factors in ((1, 1, 2, 3), (1, 1, 2.5, 1), (1, 1, 1.3, 1.7)):
            label = "_".join(map(str, factors))
            x = values(rng, 1, 2, 4, 5)
            yield case(f"Upsample_7_{mode}_{label}", "Upsample", {"x": x}, opset=7, mode=mode,
                       scales=[float(f) for f in factors])
            yield case(f"Upsample_9_{mode}_{label}", "Upsample", {"x": x}, opset=9, mode=mode,
                       initializers={"scales": scale(*factors)})
            yield case(f"Resize_10_{mode}_{label}", "Resize", {"x": x}, opset=10, mode=mode,
                       initializers={"scales": scale(*factors)})
        for factors in ((1, 1, 0.6, 0.6), (1, 1, 0.5, 1)):
            label = "_".join(map(str, factors))
            yield case(f"Resize_10_{mode}_{label}", "Resize", {"x": values(rng, 1, 2, 4, 5)}, opset=10, mode=mode,
                       initializers={"scales": scale(*factors)})


def coordinates(rng):
    factors = [(1, 1, 2, 2), (1, 1, 0.6, 0.7), (1, 1, 1.7, 0.45), (1, 1, 3, 1)]
    sizes = [(1, 2, 8, 10), (1, 2, 3, 2), (1, 2, 7, 3), (1, 2, 1, 1), (1, 2, 9, 5)]
    for opset in (11, 13, 18):
        for mode in ("nearest", "linear", "cubic"):
            for coordinate in COORDINATES:
                label = f"Resize_{opset}_{mode}_{coordinate}"
                for i, chosen in enumerate(factors):
                    yield resize(f"{label}_scales_{i}", values(rng, 1, 2, 4, 5), opset, scales=chosen, mode=mode,
                                 coordinate_transformation_mode=coordinate)
                for i, chosen in enumerate(sizes):
                    yield resize(f"{label}_sizes_{i}", values(rng, 1, 2, 4, 5), opset, sizes=chosen, mode=mode,
                                 coordinate_transformation_mode=coordinate)
    for mode in ("nearest", "linear", "cubic"):
        for i, chosen in enumerate(factors):
            yield resize(f"Resize_19_{mode}_symmetric_{i}", values(rng, 1, 2, 4, 5), 19, scales=chosen, mode=mode,
                         coordinate_transformation_mode="half_pixel_symmetric")


def details(rng):
    for nearest in NEAREST:
        for coordinate in COORDINATES:
            for i, chosen in enumerate([(1, 1, 8, 8), (1, 1, 3, 7), (1, 1, 2, 5)]):
                yield resize(f"Resize_nearest_{nearest}_{coordinate}_{i}", values(rng, 1, 1, 4, 6), 13, sizes=chosen,
                             mode="nearest", nearest_mode=nearest, coordinate_transformation_mode=coordinate)
    for a in (None, -0.5):
        for exclude in (None, 1):
            for i, chosen in enumerate([(1, 1, 2, 1.5), (1, 1, 0.8, 0.6)]):
                yield resize(f"Resize_cubic_{a}_{exclude}_{i}", values(rng, 1, 1, 5, 6), 13, scales=chosen,
                             mode="cubic", cubic_coeff_a=a, exclude_outside=exclude)
    for mode in ("nearest", "linear", "cubic"):
        for i, region in enumerate([(0, 0, 0.41, 0.57, 1, 1, 0.62, 0.83), (0, 0, -0.2, 0.13, 1, 1, 1.2, 0.92)]):
            yield resize(f"Resize_crop_{mode}_{i}", values(rng, 1, 1, 5, 6), 13, sizes=(1, 1, 4, 3), mode=mode,
                         roi=region, coordinate_transformation_mode="tf_crop_and_resize", extrapolation_value=2.5)
    yield resize("Resize_crop_axes", values(rng, 1, 1, 5, 6), 18, sizes=(4, 3), roi=(0.2, 0.1, 0.9, 0.8), axes=[2, 3],
                 mode="linear", coordinate_transformation_mode="tf_crop_and_resize")
    for policy in ("stretch", "not_larger", "not_smaller"):
        for i, sizes in enumerate([(7, 8), (3, 5), (10, 3)]):
            yield resize(f"Resize_18_{policy}_{i}", values(rng, 1, 2, 4, 5), 18, sizes=sizes, axes=[2, 3],
                         mode="linear", keep_aspect_ratio_policy=policy)
    yield resize("Resize_18_axes_swapped", values(rng, 1, 2, 4, 5), 18, sizes=(10, 3), axes=[3, 2], mode="nearest")
    yield resize("Resize_18_scales_axes", values(rng, 1, 2, 4, 5), 18, scales=(2, 0.5), axes=[-2, -1], mode="linear")
    for mode in ("nearest", "linear"):
        yield resize(f"Resize_3d_{mode}", values(rng, 1, 2, 3, 4, 3), 13, scales=(1, 1, 2, 1.5, 2), mode=mode)
        yield resize(f"Resize_1d_{mode}@reference", values(rng, 1, 2, 5), 13, scales=(1, 1, 2), mode=mode)
        yield resize(f"Resize_2d_{mode}", values(rng, 3, 5), 13, scales=(2, 0.6), mode=mode)
    yield resize("Resize_all_axes", values(rng, 2, 3, 4), 13, sizes=(3, 2, 7), mode="nearest")
    yield resize("Resize_float_product", values(rng, 1, 1, 10, 10), 13, scales=(1, 1, 0.7, 0.3), mode="linear")


def random_pairs(rng):
    for i in range(40):
        chosen = {"mode": str(rng.choice(["nearest", "linear", "cubic"])),
                  "coordinate_transformation_mode": str(rng.choice(COORDINATES)),
                  "nearest_mode": str(rng.choice(NEAREST)),
                  "cubic_coeff_a": float(rng.choice([-0.75, -0.5]))}
        chosen["exclude_outside"] = int(rng.integers(2)) if chosen["mode"] == "cubic" else 0
        sizes = (1, 1, int(rng.integers(1, 12)), int(rng.integers(1, 12)))
        yield resize(f"Resize_random_{i}", values(rng, 1, 1, 5, 7), int(rng.choice([11, 13, 18, 19])), sizes=sizes,
                     **chosen)


def cases():
    rng = np.random.default_rng(7)
    for family in (early, coordinates, details, random_pairs):
        yield from family(rng)
