version: str

def inspect(model: str, batch: int | None, dimensions: list[tuple[str, int]], layers: bool) -> str: ...
def list_hardware() -> str: ...
def describe_hardware(name: str, parameters: list[tuple[str, str]], values: bool) -> str: ...

class EvaluateOptions:
    batch: int | None
    dimensions: list[tuple[str, int]]
    loss: str
    label_smoothing: float
    ignore_index: int
    class_axis: int | None
    optimizer: str
    optimizer_form: str
    momentum: float | None
    beta1: float | None
    beta2: float | None
    epsilon: float | None
    weight_decay: float | None
    clip_norm: float | None
    accumulate: int
    conv_gradient: str
    train: list[str]
    freeze: list[str]
    bias_only: bool
    last_layers: int | None
    lora_rank: int | None
    lora_alpha: float | None
    lora_targets: list[str]
    precision: str
    loss_scale: float | None
    inference: bool
    hardware: str
    parameters: list[tuple[str, str]]
    plan: str
    recompute: list[str]
    keep: list[str]
    page: list[tuple[str, str]]
    force: bool
    products: str
    objective: str
    factors: int
    order: str
    transfers: str
    off_chip: bool
    zigzag: bool
    check: bool
    compare: bool
    pack: bool
    advise: bool
    cache_file: str
    jobs: int
    def __init__(self) -> None: ...

class Evaluation:
    def to_json(self) -> str: ...
    def to_text(self, operators: int, tensors: int) -> str: ...
    def to_csv(self) -> str: ...
    @property
    def plan_yaml(self) -> str: ...

def evaluate(model: str, options: EvaluateOptions) -> Evaluation: ...

def read_space(name: str) -> tuple[str, str]: ...

class DesignWorker:
    @staticmethod
    def open(text: str, path: str) -> DesignWorker: ...
    def fingerprint(self) -> str: ...
    def evaluate(self, design: int) -> str: ...
