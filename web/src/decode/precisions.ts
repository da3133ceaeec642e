// Recipes of number formats: costs, and how training went.
import type { PrecisionsData } from '../data';
import { Missing, number, nullable, numbers, object, objects, text, texts, type Unknown } from '../base/read';

export interface Training extends Omit<
  NonNullable<PrecisionsData['rows'][number]['simulation']>,
  'losses' | 'measured'
> {
  losses: number[];
  measured: { step: number; loss: number; accuracy: number }[]; // NaN: none
}

export interface Recipe {
  name: string;
  failed: string;
  costedAs: string; // what products that the machine cannot run were costed in
  best: boolean;
  latency: number; // seconds; what there is none of is NaN, here and below
  energy: number;
  peak: number;
  fixed: number; // there before the step begins
  saved: number;
  copies: number;
  padding: number;
  quantized: number;
  loss: number; // held out, at the end
  accuracy: number;
  training: Training | null;
  notTrained: string;
}

export interface Precisions extends Omit<PrecisionsData, 'rows' | 'command'> {
  rows: Recipe[];
  reference: Recipe | null; // with which the others are compared: fp32, or the first that ran
}

export function decodePrecisions(data: unknown): Precisions {
  const raw = object(data);
  if (!Array.isArray(raw.rows)) throw new Missing('The comparison holds no recipes.');
  const rows = objects(raw.rows, decodeRow);
  return {
    model: text(raw.model),
    simulate_model: text(raw.simulate_model) || null,
    hardware: text(raw.hardware),
    rows,
    reference: rows.find((row) => row.name === 'fp32') ?? rows.find((row) => row.failed === '') ?? null,
    loss_tolerance: nullable(raw.loss_tolerance),
    warnings: texts(raw.warnings),
    notes: texts(raw.notes),
    wall_s: number(raw.wall_s),
  };
}

function decodeRow(r: Unknown): Recipe {
  const training = r.simulation === null || r.simulation === undefined ? null : decodeTraining(object(r.simulation));
  const last = training?.measured[training.measured.length - 1];
  const fell = (training?.diverged ?? false) || (training?.stopped ?? false);
  return {
    name: text(r.recipe, '?'),
    failed: text(r.failed),
    costedAs: text(r.costed_as),
    best: r.best === true,
    latency: number(r.latency_s),
    energy: number(r.energy_pj),
    peak: number(r.peak_bytes),
    fixed: number(r.static_bytes),
    saved: number(r.saved_bytes),
    copies: number(r.copy_bytes),
    padding: number(r.padding_bytes),
    quantized: number(r.quantized_elements),
    loss: fell ? NaN : (last?.loss ?? NaN),
    accuracy: fell ? NaN : (last?.accuracy ?? NaN),
    training,
    notTrained: text(r.not_simulated),
  };
}

function decodeTraining(s: Unknown): Training {
  return {
    optimizer: text(s.optimizer),
    loss: text(s.loss),
    data: text(s.data),
    batch: number(s.batch),
    steps: number(s.steps),
    parameters: number(s.parameters),
    seed: number(s.seed),
    learning_rate: number(s.learning_rate),
    diverged: s.diverged === true,
    stopped: s.stopped === true,
    losses: numbers(s.losses),
    measured: objects(s.measured, (m) => ({
      step: number(m.step),
      loss: number(m.loss),
      accuracy: nullable(m.accuracy) ?? NaN,
    })),
  };
}

// Of points of which less is better in both, those that none beats, from left to right.
export function frontOf(x: readonly number[], y: readonly number[]): number[] {
  const order = x
    .map((_, i) => i)
    .filter((i) => Number.isFinite(x[i]) && Number.isFinite(y[i]))
    .sort((a, b) => x[a] - x[b] || y[a] - y[b]);
  const front: number[] = [];
  let least = Infinity;
  for (const i of order) {
    if (y[i] >= least) continue;
    least = y[i];
    front.push(i);
  }
  return front;
}

// The mean of the last so many: a loss of single batches goes up and down.
export function smoothed(values: readonly number[], window: number): number[] {
  let total = 0;
  return values.map((value, i) => {
    total += value - (i >= window ? values[i - window] : 0);
    return total / Math.min(i + 1, window);
  });
}
