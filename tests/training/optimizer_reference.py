"""Expected values for optimizer_test.cpp: three steps of every optimizer in float64.

    python tests/training/optimizer_reference.py > tests/training/expected/optimizers.txt

Needs torch (2.15). torch.optim and torch.nn.utils.clip_grad_norm_ are used as they are; Lion (Chen et al. 2023,
algorithm 2) and block-wise 8-bit Adam (Dettmers et al. 2022, section 2) are written here from the papers.
"""

import math

import torch

STEPS = 3
SCALES = (1.0, 0.02, 0.6)  # of the gradients of each step: clipped, not clipped, clipped
PLAIN = {"a": (), "b": (5,), "c": (3, 4), "d": (2, 3, 2, 3)}
BLOCKED = {"b": (7,), "c": (20, 13), "d": (2, 2, 1, 65)}  # 260 elements: two blocks, one of them not full
BLOCK = 256


def wave(seed: float, shape: tuple[int, ...], scale: float) -> torch.Tensor:
    """Values that the C++ test makes by the same formula."""
    count = math.prod(shape)
    values = [scale * math.sin(12.9898 * i + 78.233 * seed) for i in range(count)]
    return torch.tensor(values, dtype=torch.float64).reshape(shape)


class Lion:
    def __init__(self, parameters, lr, betas=(0.9, 0.99), weight_decay=0.0):
        self.parameters, self.lr, self.betas, self.weight_decay = parameters, lr, betas, weight_decay
        self.m = [torch.zeros_like(p) for p in parameters]

    @torch.no_grad()
    def step(self):
        beta1, beta2 = self.betas
        for p, m in zip(self.parameters, self.m):
            c = beta1 * m + (1 - beta1) * p.grad
            p -= self.lr * (c.sign() + self.weight_decay * p)
            m.copy_(beta2 * m + (1 - beta2) * p.grad)

    def states(self, i):
        return {"m": self.m[i]}


def dynamic_map(signed: bool) -> torch.Tensor:
    values = [0.0, 1.0]
    for exponent in range(7):
        edges = torch.linspace(0.1, 1, 2 ** (exponent + (0 if signed else 1)) + 1, dtype=torch.float64)
        middles = ((edges[:-1] + edges[1:]) / 2 * 10.0 ** (exponent - 6)).tolist()
        values += middles + ([-x for x in middles] if signed else [])
    assert len(values) == 256
    return torch.tensor(sorted(values), dtype=torch.float64)


class Quantized:
    """One moment: codes and the largest magnitude of each block."""

    def __init__(self, count: int, signed: bool):
        self.map = dynamic_map(signed)
        self.codes = torch.zeros(count, dtype=torch.int64)
        self.scale = torch.zeros(-(-count // BLOCK), dtype=torch.float64)

    def value(self) -> torch.Tensor:
        return torch.stack([self.map[c] * self.scale[i // BLOCK] for i, c in enumerate(self.codes)])

    def set(self, value: torch.Tensor):
        for b, block in enumerate(value.split(BLOCK)):
            self.scale[b] = block.abs().max()
            level = block / self.scale[b]
            self.codes[b * BLOCK : b * BLOCK + len(block)] = (level[:, None] - self.map).abs().argmin(dim=1)


class Adam8bit:
    def __init__(self, parameters, lr, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0, smallest=32):
        self.parameters, self.lr, self.betas, self.eps = parameters, lr, betas, eps
        self.weight_decay, self.t = weight_decay, 0
        self.small = [p.numel() < smallest for p in parameters]
        self.moments = [
            [torch.zeros(p.numel(), dtype=torch.float64) for _ in range(2)]
            if small
            else [Quantized(p.numel(), True), Quantized(p.numel(), False)]
            for p, small in zip(parameters, self.small)
        ]

    @torch.no_grad()
    def step(self):
        self.t += 1
        beta1, beta2 = self.betas
        for i, p in enumerate(self.parameters):
            m, v = (x if self.small[i] else x.value() for x in self.moments[i])
            g = p.grad.flatten()
            m = beta1 * m + (1 - beta1) * g
            v = beta2 * v + (1 - beta2) * g**2
            p *= 1 - self.lr * self.weight_decay
            m_hat, v_hat = m / (1 - beta1**self.t), v / (1 - beta2**self.t)
            p -= (self.lr * m_hat / (v_hat.sqrt() + self.eps)).reshape(p.shape)
            for k, x in enumerate((m, v)):
                if self.small[i]:
                    self.moments[i][k] = x
                else:
                    self.moments[i][k].set(x)

    def states(self, i):
        m, v = self.moments[i]
        if self.small[i]:
            return {"m": m, "v": v}
        return {"m": m.codes, "v": v.codes, "m.scale": m.scale, "v.scale": v.scale}


class Torch:
    NAMES = {
        "momentum_buffer": "momentum",
        "exp_avg": "m",
        "exp_avg_sq": "v",
        "row_var": "row",
        "col_var": "column",
        "variance": "v",
    }

    def __init__(self, optimizer):
        self.optimizer = optimizer
        self.step = optimizer.step

    def states(self, i):
        state = self.optimizer.state[self.optimizer.param_groups[0]["params"][i]]
        return {self.NAMES[k]: v for k, v in state.items() if k in self.NAMES and v is not None}


def make(kind: str, parameters, lr: float, options: dict):
    """The optimizer with our options in its own words."""
    o = dict(options)
    betas = {}
    if "beta1" in o:
        betas = {"betas": (o.pop("beta1"), o.pop("beta2"))}
    if kind == "adafactor":
        if "epsilon" in o:
            o["eps"] = (o.pop("epsilon"), o.pop("least_scale"))
        return Torch(torch.optim.Adafactor(parameters, lr=lr, **o))
    if "epsilon" in o:
        o["eps"] = o.pop("epsilon")
    if kind == "lion":
        return Lion(parameters, lr, **betas, **o)
    if kind == "adam8bit":
        return Adam8bit(parameters, lr, **betas, **o)
    if kind == "adam":
        return Torch(torch.optim.Adam(parameters, lr=lr, **betas, **o))
    if kind == "adamw":
        return Torch(torch.optim.AdamW(parameters, lr=lr, **betas, **o))
    if kind != "sgd":
        o.setdefault("momentum", 0.9)
    return Torch(torch.optim.SGD(parameters, lr=lr, nesterov=kind == "nesterov", **o))


def case(kind: str, options: dict, lr: float = 0.01, clip: float | None = None, micro_batches: int = 1):
    shapes = BLOCKED if kind == "adam8bit" else PLAIN
    parameters = [torch.nn.Parameter(wave(p, shape, 1.0)) for p, shape in enumerate(shapes.values())]
    optimizer = make(kind, parameters, lr, options)
    norms = []
    for step in range(STEPS):
        for p in parameters:
            p.grad = None
        for micro in range(micro_batches):
            for i, p in enumerate(parameters):
                grad = wave(100 + 10 * step + 3 * micro + 0.1 * i, tuple(p.shape), SCALES[step])
                p.grad = grad if p.grad is None else p.grad + grad
        if clip is not None:
            norms.append(torch.nn.utils.clip_grad_norm_(parameters, clip).item())
        optimizer.step()
    print(f"case {kind}")
    print(f"learning_rate {lr}")
    print(f"micro_batches {micro_batches}")
    for name, value in (options | ({"clip_norm": clip} if clip else {})).items():
        print(f"option {name} {value}")
    for norm in norms:
        print(f"norm {norm:.9g}")
    for i, (name, shape) in enumerate(shapes.items()):
        print("parameter", name, len(shape), *shape)
        tensors = {"": parameters[i].detach(), **optimizer.states(i)}
        for state, value in tensors.items():
            values = value.flatten().tolist()
            print("tensor", f"{name}.{state}.new" if state else f"{name}.new", len(values))
            print(*(f"{x:.9g}" for x in values))


ALL_OPTIONS = {
    "sgd": {"weight_decay": 0.1},
    "momentum": {"momentum": 0.7, "weight_decay": 0.1},
    "nesterov": {"momentum": 0.7, "weight_decay": 0.1},
    "adam": {"beta1": 0.8, "beta2": 0.95, "epsilon": 1e-3, "weight_decay": 0.1},
    "adamw": {"beta1": 0.8, "beta2": 0.95, "epsilon": 1e-3, "weight_decay": 0.1},
    "adafactor": {"beta2_decay": -0.5, "epsilon": 0.05, "least_scale": 0.75, "weight_decay": 0.1},
    "lion": {"beta1": 0.8, "beta2": 0.95, "weight_decay": 0.1},
    "adam8bit": {"beta1": 0.8, "beta2": 0.95, "epsilon": 1e-3, "weight_decay": 0.1},
}

print("# Made by optimizer_reference.py; see there.")
for kind, options in ALL_OPTIONS.items():
    case(kind, {})
    # A learning rate above 1/sqrt(2) and below 1: Adafactor's own limit takes over in the second step.
    case(kind, options, lr=0.8)
    if kind != "adam8bit":
        case(kind, {}, clip=0.5)
        case(kind, {}, micro_batches=3)
    case(kind, options, lr=0.8, clip=0.5, micro_batches=3)
