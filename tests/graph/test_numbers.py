"""Do codes, numbers and blocks agree with independent implementations: ml_dtypes (elements) and gfloat (OCP MX)?"""

import math
import subprocess
from pathlib import Path

import numpy as np
import pytest

ml_dtypes = pytest.importorskip("ml_dtypes", reason="ml_dtypes is not installed; see tests/requirements.txt")
try:
    import gfloat
    import gfloat.formats
except ImportError:
    gfloat = None

needs_gfloat = pytest.mark.skipif(gfloat is None, reason="gfloat is not installed; see tests/requirements.txt")

# Our name, that of ml_dtypes or NumPy.
PEERS = {
    "fp16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "fp8e4m3": ml_dtypes.float8_e4m3fn,
    "fp8e5m2": ml_dtypes.float8_e5m2,
    "fp8e4m3uz": ml_dtypes.float8_e4m3fnuz,
    "fp8e5m2uz": ml_dtypes.float8_e5m2fnuz,
    "fp8e8m0": ml_dtypes.float8_e8m0fnu,
    "fp6e3m2": ml_dtypes.float6_e3m2fn,
    "fp6e2m3": ml_dtypes.float6_e2m3fn,
    "fp4e2m1": ml_dtypes.float4_e2m1fn,
    "fp8e4m3i": ml_dtypes.float8_e4m3,
    "fp8e3m4i": ml_dtypes.float8_e3m4,
    "int4": ml_dtypes.int4,
    "int2": ml_dtypes.int2,
}
# Of a code, where it has not 8.
BITS = {"fp16": 16, "bf16": 16, "fp6e3m2": 6, "fp6e2m3": 6, "fp4e2m1": 4, "int4": 4, "int2": 2}

# Our name, that of gfloat.
BLOCKS = {
    "fp8e4m3:e8m0/32@-1": "mxfp8_e4m3",
    "fp8e5m2:e8m0/32@-1": "mxfp8_e5m2",
    "fp6e3m2:e8m0/32@-1": "mxfp6_e3m2",
    "fp6e2m3:e8m0/32@-1": "mxfp6_e2m3",
    "fp4e2m1:e8m0/32@-1": "mxfp4_e2m1",
    "int8:e8m0/32@-1": "mxint8",
}


@pytest.fixture(scope="session")
def ask(numbers: Path):
    def answers(questions: list[str]) -> list[list[str]]:
        asked = "\n".join(questions) + "\n"
        result = subprocess.run([numbers], input=asked, capture_output=True, text=True, check=True, timeout=300)
        return [line.split() for line in result.stdout.splitlines()]

    return answers


def hexed(values) -> str:
    return " ".join(float(value).hex() for value in values)


def floats(words: list[str]) -> np.ndarray:
    return np.array([float.fromhex(word) for word in words])


def same(ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    """Equal bit by bit, but for which of its codes stands for what is not a number."""
    equal = (ours == theirs) & (np.signbit(ours) == np.signbit(theirs))
    return equal | (np.isnan(ours) & np.isnan(theirs))


def all_numbers(name: str) -> np.ndarray:
    bits = BITS.get(name, 8)
    codes = np.arange(2**bits, dtype=np.uint16 if bits == 16 else np.uint8)
    with np.errstate(invalid="ignore"):
        return codes.view(PEERS[name]).astype(np.float64)


@pytest.mark.parametrize("name", PEERS)
def test_every_code_is_the_same_number(ask, name: str) -> None:
    theirs = all_numbers(name)
    ours = floats(ask([f"decode {name} {' '.join(map(str, range(len(theirs))))}"])[0])
    assert same(ours, theirs).all()


def tricky_values(name: str, seed: int) -> np.ndarray:
    """Middles between neighbours, a little off them, random magnitudes, and what is far outside."""
    numbers = all_numbers(name)
    numbers = np.unique(numbers[np.isfinite(numbers)])
    middles = (numbers[:-1] + numbers[1:]) / 2
    middles = middles[:: max(1, len(middles) // 5000)]
    random = np.random.default_rng(seed)
    top = math.log2(numbers.max())
    spread = np.exp2(random.uniform(max(-140, -top - 12), min(top + 2, 127.9), 5000)) * random.choice([-1, 1], 5000)
    ends = np.array([0.0, -0.0, numbers.max(), -numbers.max(), 1e-40, -1e-40])
    values = np.concatenate([middles, np.nextafter(middles, np.inf), np.nextafter(middles, -np.inf), spread, ends])
    # ml_dtypes converts by way of float32 in places: values that both can hold.
    return values.astype(np.float32).astype(np.float64)


@pytest.mark.parametrize("name", [name for name in PEERS if not name.startswith("int")])
def test_rounding_is_the_same(ask, name: str) -> None:
    values = tricky_values(name, 1)
    numbers = all_numbers(name)
    largest = numbers[np.isfinite(numbers)].max()
    if name == "fp8e8m0":
        # Theirs has no nearest number for zero, what is negative and what is beyond the largest, and takes
        # 1.25 * 2^-127 for 2^-126: subnormal in the float32 that it goes through.
        values = values[(values >= 2.0**-126) & (values < 1.5 * largest)]
    with np.errstate(over="ignore"):
        theirs = values.astype(PEERS[name]).astype(np.float64)
    if not np.isinf(numbers).any():
        # Without infinities ours saturate; theirs are not numbers (fp8) or saturate as well (fp6, fp4).
        theirs = np.where(np.isnan(theirs), np.copysign(largest, values), theirs)
    ours = floats(ask([f"round {name} {hexed(values)}"])[0])
    wrong = ~same(ours, theirs)
    assert not wrong.any(), list(zip(values[wrong], ours[wrong], theirs[wrong]))[:5]


@pytest.mark.parametrize("name", [name for name in PEERS if not name.startswith("int") and name != "fp8e8m0"])
def test_codes_of_rounded_numbers_are_the_same(ask, name: str) -> None:
    numbers = all_numbers(name)
    finite = numbers[np.isfinite(numbers)]
    values = np.clip(tricky_values(name, 2), finite.min(), finite.max())
    bits = BITS.get(name, 8)
    theirs = values.astype(PEERS[name]).view(np.uint16 if bits == 16 else np.uint8)
    ours = np.array(ask([f"encode {name} {hexed(values)}"])[0], dtype=int)
    assert (ours == theirs).all()


def random_blocks(count: int, seed: int) -> np.ndarray:
    random = np.random.default_rng(seed)
    scale = np.exp2(random.uniform(-130, 126, (count, 1)))
    blocks = random.standard_normal((count, 32)) * np.exp2(random.uniform(-6, 0, (count, 32))) * scale
    blocks[random.random(blocks.shape) < 0.05] = 0
    blocks[0] = 0
    blocks[1] = 2.0**-140
    blocks[2] = 2.0**127 * 1.999
    blocks[3] = np.linspace(-2, 2, 32)
    blocks[4] = np.exp2(np.arange(32) - 20.0)
    return blocks.astype(np.float32).astype(np.float64)


def mx_of(block: np.ndarray, name: str) -> np.ndarray:
    """By gfloat, but that MXINT8 does not use its lowest code: the specification leaves it open."""
    info = getattr(gfloat.formats, f"format_info_{BLOCKS[name]}")
    result = gfloat.quantize_block(info, block, gfloat.compute_scale_amax)
    if name.startswith("int8"):
        scale = gfloat.compute_scale_amax(0, block)
        result[result == -2 * scale] = -127 / 64 * scale
    return result


@needs_gfloat
@pytest.mark.parametrize("name", BLOCKS)
def test_blocks_are_the_same(ask, name: str) -> None:
    blocks = random_blocks(300, 3)
    theirs = np.array([mx_of(block, name) for block in blocks])
    ours = floats(ask([f"quantize {name} {len(blocks)}x32 {hexed(blocks.ravel())}"])[0]).reshape(blocks.shape)
    wrong = ours != theirs
    assert not wrong.any(), list(zip(blocks[wrong], ours[wrong], theirs[wrong]))[:5]
    along_rows = name.replace("@-1", "@-2")
    turned = floats(ask([f"quantize {along_rows} 32x{len(blocks)} {hexed(blocks.T.ravel())}"])[0])
    assert (turned.reshape(32, -1).T == theirs).all()


@needs_gfloat
@pytest.mark.parametrize("name", BLOCKS)
def test_square_blocks_are_the_same(ask, name: str) -> None:
    random = np.random.default_rng(4)
    tensor = (random.standard_normal((24, 40)) * np.exp2(random.uniform(-9, 0, (24, 40)))).astype(np.float32)
    tensor = tensor.astype(np.float64)
    theirs = np.empty_like(tensor)
    for row in range(0, 24, 8):
        for column in range(0, 40, 8):
            block = tensor[row : row + 8, column : column + 8]
            theirs[row : row + 8, column : column + 8] = mx_of(block.ravel(), name).reshape(8, 8)
    square = name.replace("/32@", "/8x8@")
    ours = floats(ask([f"quantize {square} 24x40 {hexed(tensor.ravel())}"])[0]).reshape(tensor.shape)
    assert (ours == theirs).all()


@needs_gfloat
def test_two_levels_of_scales_are_the_same(ask) -> None:
    """NVFP4: scales computed here by its definition, rounded by gfloat."""
    random = np.random.default_rng(5)
    tensor = random.standard_normal((20, 64)) * np.exp2(random.uniform(-8, 8, (20, 1)))
    tensor_scale = float(np.float32(np.abs(tensor).max() / (6 * 448)))
    theirs = np.empty_like(tensor)
    for row in range(20):
        for column in range(0, 64, 16):
            block = tensor[row, column : column + 16]
            ratio = np.abs(block).max() / 6 / tensor_scale
            scale = gfloat.round_float(gfloat.formats.format_info_ocp_e4m3, ratio, sat=True) * tensor_scale
            element = gfloat.formats.format_info_ocp_e2m1
            theirs[row, column : column + 16] = [
                gfloat.round_float(element, value, sat=True) * scale for value in block / scale]
    ours = floats(ask([f"quantize fp4e2m1:fp8e4m3/16@-1+tensor32 20x64 {hexed(tensor.ravel())}"])[0])
    assert (ours.reshape(tensor.shape) == theirs).all()


@pytest.mark.parametrize("bits", [8, 5, 3])
def test_microexponents_are_the_same(ask, bits: int) -> None:
    """MX9, MX6 and MX4 (arXiv 2302.08007): a pair whose exponents are all below the group's is shifted by one."""
    blocks = random_blocks(400, 6)[:, :16]
    largest = 2 ** (bits - 1) - 1
    theirs = np.empty_like(blocks)
    for i, block in enumerate(blocks):
        exponents = np.where(block == 0, -2000, np.frexp(block)[1] - 1)
        shared = int(np.clip(exponents.max(), -127, 127))
        for pair in range(0, 16, 2):
            shift = 1 if exponents[pair : pair + 2].max() < shared else 0
            step = 2.0 ** (shared - shift - (bits - 2))
            theirs[i, pair : pair + 2] = np.clip(np.rint(block[pair : pair + 2] / step), -largest, largest) * step
    ours = floats(ask([f"quantize int{bits}:e8m0/16@-1+1/2 {len(blocks)}x16 {hexed(blocks.ravel())}"])[0])
    assert (ours.reshape(blocks.shape) == theirs).all()
