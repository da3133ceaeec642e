// result.json as the page uses it: every field there, numbers that were absent as NaN, lists that were absent empty.
import type { EvaluationData, MachineData, ResultData } from '../data';
import { list, nullable, number, numbers, object, objects, parts, text, texts, type Unknown } from '../base/read';
import { clockOf, type Clock } from '../base/units';

export type Operator = ResultData['operators'][number];
export type Memory = ResultData['memories'][number];
export type Resource = ResultData['resources'][number];

export interface Evaluation {
  name: string;
  result: ResultData;
  clock: Clock;
  machine: MachineData | null;
  raw: EvaluationData; // for the parts that are decoded when they are shown
}

export function decodeEvaluation(value: unknown): Evaluation {
  const raw = object(value);
  const result = decodeResult(object(raw.result));
  const fallback = result.model || result.hardware ? `${result.model} on ${result.hardware}` : 'An evaluation';
  return {
    name: text(raw.name, fallback),
    result,
    clock: clockOf(result.clock_hz),
    machine: raw.machine === undefined ? null : decodeMachine(object(raw.machine)),
    raw: raw as unknown as EvaluationData,
  };
}

function decodeResult(r: Unknown): ResultData {
  const bound = object(r.bound);
  const inference = r.inference === null || r.inference === undefined ? null : object(r.inference);
  return {
    schema: 1,
    command: 'evaluate',
    model: text(r.model),
    hardware: text(r.hardware),
    objective: text(r.objective),
    mode: r.mode === 'inference' ? 'inference' : 'training',
    clock_hz: nullable(r.clock_hz),
    batch: number(r.batch),
    micro_batches: number(r.micro_batches),
    recipe: text(r.recipe),
    recipe_from: text(r.recipe_from),
    recipe_text: text(r.recipe_text),
    reach_text: text(r.reach_text),
    fits: r.fits !== false,
    does_not_fit: text(r.does_not_fit),
    diagnosis: texts(r.diagnosis),
    latency_cycles: number(r.latency_cycles),
    latency_s: nullable(r.latency_s),
    latency_by: parts(r.latency_by),
    energy_pj: number(r.energy_pj),
    energy_breakdown: parts(r.energy_breakdown),
    energy_by: parts(r.energy_by),
    peak_bytes: parts(r.peak_bytes),
    live_peak_bytes: parts(r.live_peak_bytes),
    footprint_bytes: parts(r.footprint_bytes),
    macs: number(r.macs),
    utilization: number(r.utilization),
    nodes: number(r.nodes),
    parameters: number(r.parameters),
    saved_bytes: number(r.saved_bytes),
    stacks: number(r.stacks),
    tiles: number(r.tiles),
    transfers: number(r.transfers),
    bound: { latency_cycles: nullable(bound.latency_cycles), energy_pj: nullable(bound.energy_pj), by: text(bound.by) },
    checked: text(r.checked),
    wall_s: number(r.wall_s),
    phases: objects(r.phases, (p) => ({
      phase: text(p.phase),
      start: number(p.start),
      end: number(p.end),
      latency_cycles: number(p.latency_cycles),
      busy_cycles: number(p.busy_cycles),
      energy_pj: number(p.energy_pj),
      macs: number(p.macs),
    })),
    operators: list(r.operators, (o) => decodeOperator(object(o))), // indexed by others: none left out
    resources: objects(r.resources, (s) => ({
      name: text(s.name),
      kind: text(s.kind),
      busy_cycles: number(s.busy_cycles),
      idle_cycles: number(s.idle_cycles),
      utilization: number(s.utilization),
      bytes: number(s.bytes),
      energy_pj: number(s.energy_pj),
      idle_by: parts(s.idle_by),
    })),
    memories: objects(r.memories, decodeMemory),
    critical_path: objects(r.critical_path, (c) => ({
      name: text(c.name),
      kind: text(c.kind),
      start: number(c.start),
      end: number(c.end),
      steps: number(c.steps),
    })),
    critical_by_kind: parts(r.critical_by_kind),
    inference: inference && {
      latency_cycles: number(inference.latency_cycles),
      energy_pj: number(inference.energy_pj),
      peak_bytes: number(inference.peak_bytes),
    },
    options: objects(r.options, (o) => ({
      what: text(o.what),
      fits: o.fits === true,
      latency_cycles: number(o.latency_cycles),
      energy_pj: number(o.energy_pj),
      peak_bytes: number(o.peak_bytes),
      reason: text(o.reason),
    })),
    filled: texts(r.filled),
    warnings: texts(r.warnings),
    notes: texts(r.notes),
  };
}

function decodeOperator(o: Unknown): Operator {
  return {
    name: text(o.name, '?'),
    operator: text(o.operator, '?'),
    phase: text(o.phase),
    stack: text(o.stack),
    cores: texts(o.cores),
    tiles: number(o.tiles),
    macs: number(o.macs),
    start: number(o.start),
    end: number(o.end),
    busy_cycles: number(o.busy_cycles),
    compute_cycles: number(o.compute_cycles),
    stall_cycles: number(o.stall_cycles),
    load_cycles: number(o.load_cycles),
    fill_cycles: number(o.fill_cycles),
    slowed_cycles: number(o.slowed_cycles),
    wait_cycles: number(o.wait_cycles),
    energy_pj: number(o.energy_pj),
    energy_breakdown: parts(o.energy_breakdown),
    home_read_bytes: number(o.home_read_bytes),
    home_write_bytes: number(o.home_write_bytes),
    bound_cycles: number(o.bound_cycles),
    recomputed: o.recomputed === true,
  };
}

function decodeMemory(m: Unknown): Memory {
  const curve = object(m.curve);
  return {
    name: text(m.name),
    kind: text(m.kind),
    capacity_bytes: number(m.capacity_bytes),
    live_peak_bytes: number(m.live_peak_bytes),
    packed_peak_bytes: number(m.packed_peak_bytes),
    peak_at: number(m.peak_at),
    peak_by_role: parts(m.peak_by_role),
    alive_at_peak: objects(m.alive_at_peak, (t) => ({
      name: text(t.name),
      role: text(t.role),
      bytes: number(t.bytes),
      start: number(t.start),
      end: number(t.end),
    })),
    read_bytes: number(m.read_bytes),
    written_bytes: number(m.written_bytes),
    energy_pj: number(m.energy_pj),
    curve: { roles: texts(curve.roles), at: numbers(curve.at), bytes: list(curve.bytes, numbers) },
  };
}

function decodeMachine(m: Unknown): MachineData {
  return {
    peak_macs_per_cycle: number(m.peak_macs_per_cycle),
    roofs: objects(m.roofs, (r) => ({ memory: text(r.memory), bytes_per_cycle: number(r.bytes_per_cycle) })),
    derived: objects(m.derived, (d) => ({ name: text(d.name), value: text(d.value), source: text(d.source) })),
  };
}

// The latency of a step; where a result lacks it, the end of what ran.
export function horizon(result: ResultData): number {
  if (result.latency_cycles > 0) return result.latency_cycles;
  return Math.max(1, ...result.phases.map((phase) => (phase.end > 0 ? phase.end : 0)));
}
