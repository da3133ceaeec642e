"""The library itself; use the package monet."""

from collections.abc import Callable

version: str
STEP_OPTIONS: list[str]
FUSE_STEP_OPTIONS: list[str]
SEARCH_STEP_OPTIONS: list[str]

_Progress = Callable[[str, int, int], object] | None
_Costs = dict[str, Callable[[CustomTile], tuple[float, float] | None]]

class Network:
    def __init__(self, name: str) -> None: ...
    @property
    def name(self) -> str: ...

class Machine:
    def __init__(self, name: str, parameters: list[tuple[str, str]]) -> None: ...
    @property
    def name(self) -> str: ...
    @property
    def parameters(self) -> list[tuple[str, str]]: ...

class Plan:
    def __init__(self) -> None: ...
    @staticmethod
    def read(path: str) -> Plan: ...
    @staticmethod
    def parse(text: str, file: str) -> Plan: ...
    def to_yaml(self) -> str: ...

def inspect(network: Network, batch: int | None, dimensions: list[tuple[str, int]], layers: bool) -> str: ...
def list_hardware() -> str: ...
def describe_hardware(machine: Machine, values: bool) -> str: ...

class StepRequest:
    batch: int | None
    dimensions: list[tuple[str, int]]
    parameter: list[str]
    buffer: list[str]
    fused_norms: bool
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
    machine: Machine
    plan: Plan
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
    lowering: str
    parallel: str
    chips: int
    micro_batch: int
    check: bool
    compare: bool
    pack: bool
    advise: bool
    suggest_up_to: int
    trace: bool
    lifetimes: bool
    graph: bool
    custom: str
    cache_file: str
    jobs: int
    def __init__(self) -> None: ...

class FuseOptions:
    evaluate: StepRequest
    objective: str
    rules: str
    limit: int
    max_conv: int
    max_transposed: int
    max_products: int
    max_conv_with_product: int
    max_leaving: int
    divisible_tilings: bool
    weights_fit: bool
    stacks: list[tuple[int, int]]
    tiles: bool
    improve: bool
    effort: float
    max_candidates: int
    dominance: bool
    decompose: bool
    repeat: bool
    dynamic: bool
    lift: bool
    time_limit: float | None
    def __init__(self) -> None: ...

class CheckpointOptions:
    evaluate: StepRequest
    method: str
    objective: str
    memory_budget: list[str]
    deadline: str
    pareto: bool
    pareto_step: float
    measure: str
    tensors: list[str]
    recompute: bool
    page: bool
    page_weights: bool
    reorder: bool
    evaluations: int
    population: int
    generations: int
    crossover: float
    mutation: float
    seed: int
    seeds: bool
    prune: bool
    improve: bool
    time_limit: float | None
    def __init__(self) -> None: ...

class OptimizeOptions:
    evaluate: StepRequest
    objective: str
    memory_budget: list[str]
    deadline: str
    fuse: bool
    memory: bool
    place: bool
    recompute: bool
    page: bool
    page_weights: bool
    reorder: bool
    limit: int
    rounds: int
    evaluations: int
    population: int
    generations: int
    plans: int
    seed: int
    time_limit: float | None
    def __init__(self) -> None: ...

class ExploreOptions:
    space: str
    network: str
    batch: int
    method: str
    samples: int
    population: int
    generations: int
    seed: int
    objectives: list[str]
    store: str
    resume: bool
    cluster: str
    python: str
    jobs: int
    time_limit: float | None
    def __init__(self) -> None: ...

class RematOptions:
    budget_fraction: float | None
    budget_bytes: int | None
    profiles: str
    device: str
    fixed_bytes: int
    page_bytes: int
    deadline_factor: float | None
    deadline: float | None
    free_transfers: bool
    objective: str
    method: str
    recompute: bool
    page: bool
    reorder: bool
    prune: bool
    improve: bool
    bound: bool
    seed: int
    jobs: int
    time_limit: float
    def __init__(self) -> None: ...

class PlanMetrics:
    latency_cycles: float
    latency_s: float
    energy_pj: float
    peak_bytes: int
    def __init__(self) -> None: ...

class WorkloadMetrics:
    @property
    def workload(self) -> str: ...
    @property
    def latency_cycles(self) -> float: ...
    @property
    def latency_s(self) -> float: ...
    @property
    def energy_pj(self) -> float: ...
    @property
    def edp(self) -> float: ...
    @property
    def peak_bytes(self) -> int: ...
    @property
    def utilization(self) -> float: ...
    @property
    def cost(self) -> float: ...
    @property
    def stacks(self) -> int: ...
    @property
    def tiles(self) -> int: ...
    @property
    def recomputed(self) -> int: ...
    @property
    def paged(self) -> int: ...

class DesignMetrics:
    @property
    def design(self) -> int: ...
    @property
    def parameters(self) -> dict[str, str]: ...
    @property
    def workloads(self) -> dict[str, WorkloadMetrics]: ...
    @property
    def latency_s(self) -> float: ...
    @property
    def energy_pj(self) -> float: ...
    @property
    def edp(self) -> float: ...
    @property
    def area_mm2(self) -> float: ...
    @property
    def peak_bytes(self) -> float: ...
    @property
    def cost(self) -> float: ...
    @property
    def utilization(self) -> float: ...

class CustomTile:
    op: str
    core: str
    precision: str
    loops: list[tuple[str, int]]
    input_shapes: list[list[int]]
    output_shapes: list[list[int]]
    attributes: list[tuple[str, str]]
    def __init__(self) -> None: ...

class Training:
    def to_json(self, layers: bool, parameters: bool) -> str: ...
    def to_text(self) -> str: ...

def train(network: Network, options: StepRequest, path: str) -> Training: ...

class Evaluation:
    def to_json(self) -> str: ...
    def to_text(self, operators: int, tensors: int) -> str: ...
    def to_csv(self) -> str: ...
    def to_lifetimes_csv(self) -> str: ...
    def to_trace(self) -> str: ...
    def to_chakra(self) -> bytes: ...
    def to_details(self) -> str: ...
    def page(self) -> str: ...
    def trace(self) -> dict[str, list[object]]: ...
    def lifetimes(self) -> dict[str, list[object]]: ...
    @property
    def plan_yaml(self) -> str: ...

def evaluate(network: Network, options: StepRequest, costs: _Costs, progress: _Progress) -> Evaluation: ...

class Fusion:
    def to_json(self) -> str: ...
    def to_text(self, stacks: int) -> str: ...
    @property
    def plan_yaml(self) -> str: ...

def fuse(network: Network, options: FuseOptions, costs: _Costs, progress: _Progress) -> Fusion: ...

class Checkpointing:
    def to_json(self) -> str: ...
    def to_text(self) -> str: ...
    def to_csv(self) -> str: ...
    def points_to_csv(self) -> str: ...
    def page(self) -> str: ...
    @property
    def plans(self) -> list[str]: ...

def checkpoint(
    network: Network,
    options: CheckpointOptions,
    points: bool,
    objective: Callable[[PlanMetrics], float] | None,
    costs: _Costs,
    progress: _Progress,
) -> Checkpointing: ...

class Optimization:
    def to_json(self) -> str: ...
    def to_text(self) -> str: ...
    def to_csv(self) -> str: ...
    def page(self) -> str: ...
    @property
    def plans(self) -> list[str]: ...

def optimize(
    network: Network,
    options: OptimizeOptions,
    objective: Callable[[PlanMetrics], float] | None,
    costs: _Costs,
    progress: _Progress,
) -> Optimization: ...
def read_space(name: str, network: str = ..., batch: int = ...) -> tuple[str, str]: ...
def space_size(name: str) -> int: ...
def list_networks(only: str) -> str: ...
def list_spaces() -> str: ...

class DesignWorker:
    @staticmethod
    def open(text: str, path: str) -> DesignWorker: ...
    def fingerprint(self) -> str: ...
    def evaluate(self, design: int) -> str: ...

class Exploration:
    def to_json(self) -> str: ...
    def to_text(self, front: int) -> str: ...

def explore(
    options: ExploreOptions, functions: list[tuple[str, Callable[[DesignMetrics], float]]], progress: _Progress
) -> Exploration: ...
def show_store(store: str, objectives: list[str]) -> Exploration: ...
def store_csv(store: str) -> str: ...
def write_store_csv(store: str, path: str) -> None: ...
def write_store_json_lines(store: str, path: str) -> None: ...

def list_precisions() -> str: ...
def describe_precision(name: str) -> str: ...

class SimulateOptions:
    steps: int
    learning_rate: float | None
    seed: int
    data: str
    samples: int
    measure_every: int
    force: bool
    def __init__(self) -> None: ...

def simulate(network: Network, step: StepRequest, options: SimulateOptions, progress: _Progress) -> str: ...

class PrecisionComparison:
    def to_json(self) -> str: ...
    def to_text(self) -> str: ...
    def to_csv(self) -> str: ...
    def page(self) -> str: ...

def compare_precisions(
    network: Network,
    step: StepRequest,
    simulation: SimulateOptions,
    recipes: list[str],
    trained: str,
    batch: int | None,
    accuracy: bool,
    costs: _Costs,
    progress: _Progress,
) -> PrecisionComparison: ...

class Comparison:
    def to_json(self) -> str: ...
    def to_text(self) -> str: ...
    def to_csv(self) -> str: ...

class NamedResult:
    def __init__(self, name: str, result: str = ..., details: str = ...) -> None: ...

def compare(a: NamedResult, b: NamedResult) -> Comparison: ...
def report_page(results: list[NamedResult], title: str, objectives: list[str]) -> str: ...

class Packing:
    def to_json(self) -> str: ...
    def to_text(self) -> str: ...
    def to_csv(self) -> str: ...

def pack(path: str, capacity: int | None, time_limit: float | None) -> Packing: ...

class Remat:
    def to_json(self) -> str: ...
    def to_text(self) -> str: ...
    def schedule_json(self) -> str: ...

def remat(path: str, options: RematOptions) -> Remat: ...
def validations() -> list[str]: ...
def validate(name: str, data: str, only: str, jobs: int, progress: _Progress) -> str: ...
