// What the program puts into a page: the contract between src/report/page*.cpp and the page. Times are in cycles of the
// machine's clock, sizes in bytes, energies in picojoules. Everything that a file holds may be absent or of another
// type: the page says so and shows the rest.

export interface ReportData {
  schema: 1;
  program: string; // "monet 0.8.0"
  title: string;
  evaluations: EvaluationData[]; // none, one, or two that are compared
  comparison?: ComparisonData; // of two evaluations
  plans?: PlansData; // of optimize and checkpoint
  exploration?: ExplorationData; // of a store
  precisions?: PrecisionsData; // of precision compare
}

// ---------------------------------------------------------------- one evaluation

export interface EvaluationData {
  name: string; // "resnet18-cifar on edge_tpu", or the folder where two of one name are compared
  result: ResultData; // result.json, as `monet evaluate --json` prints it
  // details.json; each part may be absent where only result.json is there
  machine?: MachineData;
  schedule?: ScheduleData;
  lifetimes?: LifetimeData;
  graph?: GraphData;
}

export type Parts = Record<string, number>;

// The fields that the page uses; there are more.
export interface ResultData {
  schema: 1;
  command: 'evaluate';
  model: string;
  hardware: string;
  objective: string;
  mode: 'training' | 'inference';
  clock_hz: number | null;
  batch: number;
  micro_batches: number;
  recipe: string; // of the number formats
  recipe_from: string; // file, machine, option
  recipe_text: string; // both, as the headline has them; empty: an older version made it
  reach_text: string; // lowering, and how well results like it were compared; empty: nothing to say
  fits: boolean;
  does_not_fit: string;
  diagnosis: string[];
  latency_cycles: number;
  latency_s: number | null;
  latency_by: Parts; // compute, stall, traffic, recomputation, paging, room, waiting: adds up to latency_cycles
  energy_pj: number;
  energy_breakdown: Parts; // "compute int8", "memory dram", "link noc", "network", "static"
  energy_by: Parts; // compute, traffic, recomputation, paging, static: adds up to energy_pj
  peak_bytes: Parts; // by memory, with addresses
  live_peak_bytes: Parts;
  footprint_bytes: Parts; // by role
  macs: number;
  utilization: number;
  nodes: number;
  parameters: number;
  saved_bytes: number;
  stacks: number;
  tiles: number;
  transfers: number;
  bound: { latency_cycles: number | null; energy_pj: number | null; by: string };
  checked: string;
  wall_s: number;
  phases: {
    phase: string; // forward, backward, optimizer
    start: number;
    end: number;
    latency_cycles: number;
    busy_cycles: number;
    energy_pj: number;
    macs: number;
  }[];
  operators: {
    name: string;
    operator: string; // its type
    phase: string;
    stack: string;
    cores: string[];
    tiles: number;
    macs: number;
    start: number;
    end: number;
    busy_cycles: number;
    compute_cycles: number;
    stall_cycles: number;
    load_cycles: number;
    fill_cycles: number;
    slowed_cycles: number;
    wait_cycles: number;
    energy_pj: number;
    energy_breakdown: Parts;
    home_read_bytes: number;
    home_write_bytes: number;
    bound_cycles: number;
    recomputed: boolean;
  }[];
  resources: {
    name: string;
    kind: string; // core, link, bus, port
    busy_cycles: number;
    idle_cycles: number;
    utilization: number;
    bytes: number;
    energy_pj: number;
    idle_by?: Parts;
  }[];
  memories: {
    name: string;
    kind: string;
    capacity_bytes: number;
    live_peak_bytes: number;
    packed_peak_bytes: number;
    peak_at: number;
    peak_by_role: Parts;
    alive_at_peak: { name: string; role: string; bytes: number; start: number; end: number }[];
    read_bytes: number;
    written_bytes: number;
    energy_pj: number;
    curve: { roles: string[]; at: number[]; bytes: number[][] }; // by time, then role; steps: holds until the next
  }[];
  critical_path: { name: string; kind: string; start: number; end: number; steps: number }[];
  critical_by_kind: Parts;
  inference: { latency_cycles: number; energy_pj: number; peak_bytes: number } | null;
  options: { what: string; fits: boolean; latency_cycles: number; energy_pj: number; peak_bytes: number; reason: string }[];
  filled: string[]; // what the default policy decided
  warnings: string[];
  notes: string[];
}

export interface MachineData {
  peak_macs_per_cycle: number; // of all cores, at the precision most MACs are in
  roofs: { memory: string; bytes_per_cycle: number }[]; // of home memory and of memories that cores share
  derived: { name: string; value: string; source: string }[]; // values that the hardware file leaves out
}

// All tiles and transfers, sorted by track, then start. Columns have one entry for each event unless said otherwise.
export interface ScheduleData {
  tick: number; // cycles of one unit of `start` and `length`
  tracks: { name: string; kind: 'core' | 'link' | 'port' | 'other'; events: number; lanes: number }[]; // `events`: so many, in turn
  names: string[]; // of operators and tensors
  kinds: string[]; // forward, backward, optimizer: tiles; others: transfers
  causes: string[]; // why something waited; "" is the first
  start: number[]; // difference to the start of the event before it in its track
  length: number[];
  name: number[]; // index into names
  part: number[]; // which tile of its operator; -1: the only one, or a transfer
  kind: number[]; // index into kinds
  cause: number[]; // index into causes
  node: number[]; // index into result.operators; -1: none
  lane: number[]; // where events of a track overlap
  from: number[]; // event whose result it uses; -1: none
  bytes: number[]; // moved; 0 for tiles
  critical: number[]; // events on the critical path, in order of time
}

// What lies in memories, and where. Columns have one entry for each stay.
export interface LifetimeData {
  tick: number;
  memories: string[];
  names: string[];
  roles: string[];
  memory: number[];
  name: number[];
  role: number[];
  start: number[];
  length: number[];
  bytes: number[];
  address: number[]; // -1: not packed
}

// The step as it ran. Columns by node and by tensor.
export interface GraphData {
  nodes: {
    name: string[];
    operator: string[];
    phase: string[];
    stack: number[]; // -1: a view, free
    recomputed: number[]; // 0 or 1
    x: number[]; // place in a picture, in units of one node; forward runs down, backward up beside it
    y: number[];
    node: number[]; // index into result.operators; -1: none
  };
  tensors: {
    name: string[];
    role: string[];
    shape: string[]; // "4x64x32x32 fp32"
    bytes: number[];
    from: number[]; // node that makes it; -1: from outside
    to: number[][]; // nodes that read it
    saved: number[]; // 1: made forward, read backward
    decision: string[]; // "", "kept", "recomputed", "paged to flash"
  };
}

// ---------------------------------------------------------------- comparison

export interface ComparisonData {
  a: string;
  b: string;
  // part: "latency", "latency: compute", …, "energy: static", "memory dram: activation". The parts of a total add up to it.
  rows: { part: string; unit: 'cycles' | 's' | 'pJ' | 'bytes' | ''; a: number; b: number; delta: number }[];
  operators: { name: string; phase: string; a_cycles: number; b_cycles: number; a_pj: number; b_pj: number }[]; // those that differ most
  assumptions: { what: string; a: string; b: string }[]; // model, machine, batch … where they differ
  recipe_text: { a: string; b: string }; // number formats; empty: not said
}

// ---------------------------------------------------------------- plans

export interface PlanData {
  latency_cycles: number;
  latency_s?: number | null;
  energy_pj: number;
  peak_bytes: number;
  saved_bytes_dropped: number;
  stacks?: number;
  order?: string;
  recomputed: string[];
  paged: string[];
  why?: string;
  plan_file?: string;
  plan_yaml?: string;
}

export interface PlansData {
  command: 'optimize' | 'checkpoint';
  model: string;
  hardware: string;
  recipe_text: string; // number formats; empty: not said
  memory: string;
  objective: string;
  clock_hz: number | null;
  budget_bytes: number;
  deadline_cycles: number;
  start?: PlanData; // the default policy, all kept
  plans: PlanData[];
  bound: { latency_cycles: number | null; energy_pj: number | null };
  evaluated: number;
  wall_s: number;
  warnings: string[];
  notes: string[];
}

// ---------------------------------------------------------------- exploration

export interface ExplorationData {
  space: string;
  description: string;
  method: string;
  workloads: string[];
  objectives: { name: string; metric: number; better: 'less' | 'more' }[]; // metric: index into `metrics`
  space_size: number;
  seen: number;
  evaluated: number;
  failed: number;
  excluded: number;
  hypervolume: number;
  parameters: { name: string; values: string[] }[];
  metrics: { name: string; unit: 's' | 'pJ' | 'bytes' | 'mm2' | 'cycles' | ''; workload: string }[]; // workload "": of all, by weight
  designs: {
    id: number[];
    parameters: number[][]; // by parameter, then design: index of the value
    metrics: number[][]; // by metric, then design
  }; // those that ran: all, or the front and every so many where there are very many
  shown: number; // of `evaluated`
  front: number[]; // rows of `designs`
  recipes: { recipe: string; text: string; designs: number }[]; // number formats
  failures: { reason: string; designs: number }[];
  tolerance: number; // designs of the front differ by more than it in some objective
  recommended: { index: number; shown: number; knee: boolean; why: string } | null; // shown: row of `designs`
  sensitivities: {
    parameter: string;
    objective: string;
    share: number; // of the variance that it explains alone, among those seen
    share_likely: number; // in the whole space; between low and high with 90 % confidence
    share_low: number;
    share_high: number;
    values: { value: string; designs: number; on_front: number; mean: number; best: number }[];
  }[];
  correlations: { a: string; b: string; metric: string; spearman: number; designs: number }[];
  commands: { workload: string; command: string }[]; // "monet evaluate NET --hardware H {set}"; {set}: the design's parameters
  notes: string[];
}

// ---------------------------------------------------------------- recipes of number formats

export interface PrecisionsData {
  command: 'precision compare';
  model: string;
  simulate_model: string | null; // that was trained for real; null: none
  hardware: string;
  rows: {
    recipe: string;
    failed: string | null; // why there are no costs: then they are null
    costed_as: string | null; // what products were converted to for the costs that the machine cannot run as they are
    best: boolean; // no other has a lower held-out loss (beyond loss_tolerance), less energy and less peak memory
    latency_s: number | null;
    energy_pj: number | null;
    peak_bytes: number | null;
    static_bytes: number | null;
    saved_bytes: number | null;
    copy_bytes: number | null;
    padding_bytes: number | null;
    quantized_elements: number | null;
    simulation: {
      optimizer: string;
      loss: string;
      data: string;
      batch: number;
      steps: number;
      parameters: number;
      seed: number;
      learning_rate: number;
      diverged: boolean;
      stopped: boolean;
      losses: (number | null)[]; // of each step's batch
      measured: { step: number; loss: number | null; accuracy: number | null }[]; // on held-out samples
    } | null;
    not_simulated: string | null; // why, where one was asked for
  }[];
  loss_tolerance: number | null; // between two seeds of the first recipe; null: not known
  warnings: string[];
  notes: string[];
  wall_s: number;
}
