// Designs of a store, by column.
import type { ExplorationData } from '../data';
import { column, indices, Missing, number, object, objects, text, texts } from '../base/read';

export interface Exploration extends Omit<ExplorationData, 'designs' | 'front'> {
  count: number;
  id: Float64Array;
  parameter: Int32Array[]; // by parameter, then design: index of the value
  metric: Float64Array[]; // by metric, then design
  front: Uint8Array;
}

export function decodeExploration(data: unknown): Exploration {
  const raw = object(data);
  const designs = object(raw.designs);
  if (!Array.isArray(designs.id)) throw new Missing('The exploration holds no designs.');
  const count = designs.id.length;
  const parameters = objects(raw.parameters, (p) => ({ name: text(p.name), values: texts(p.values) }));
  const metrics = objects(raw.metrics, (m) => ({
    name: text(m.name),
    unit: text(m.unit) as ExplorationData['metrics'][number]['unit'],
    workload: text(m.workload),
  }));
  const rows = (value: unknown, k: number): unknown => (Array.isArray(value) ? value[k] : undefined);
  const front = new Uint8Array(count);
  if (Array.isArray(raw.front))
    for (const row of raw.front) if (Number.isInteger(row) && row >= 0 && row < count) front[row] = 1;
  return {
    space: text(raw.space),
    description: text(raw.description),
    method: text(raw.method),
    workloads: texts(raw.workloads),
    objectives: objects(raw.objectives, (o) => ({
      name: text(o.name),
      metric: number(o.metric, -1),
      better: o.better === 'more' ? ('more' as const) : ('less' as const),
    })).filter((o) => Number.isInteger(o.metric) && o.metric >= 0 && o.metric < metrics.length),
    space_size: number(raw.space_size),
    seen: number(raw.seen),
    evaluated: number(raw.evaluated),
    failed: number(raw.failed),
    excluded: number(raw.excluded),
    hypervolume: number(raw.hypervolume),
    parameters,
    metrics,
    count,
    id: column(designs.id, count, 'id'),
    parameter: parameters.map((p, k) =>
      indices(rows(designs.parameters, k), count, `parameter ${p.name}`, p.values.length),
    ),
    metric: metrics.map((m, k) => column(rows(designs.metrics, k), count, `metric ${m.name}`)),
    shown: number(raw.shown),
    front,
    tolerance: number(raw.tolerance, 0),
    recommended: recommendedOf(raw.recommended, count),
    recipes: objects(raw.recipes, (r) => ({ recipe: text(r.recipe), text: text(r.text), designs: number(r.designs) })),
    failures: objects(raw.failures, (f) => ({ reason: text(f.reason), designs: number(f.designs) })),
    sensitivities: objects(raw.sensitivities, (s) => ({
      parameter: text(s.parameter),
      objective: text(s.objective),
      share: number(s.share),
      share_likely: number(s.share_likely, number(s.share)),
      share_low: number(s.share_low, number(s.share)),
      share_high: number(s.share_high, number(s.share)),
      values: objects(s.values, (v) => ({
        value: text(v.value),
        designs: number(v.designs),
        on_front: number(v.on_front),
        mean: number(v.mean),
        best: number(v.best),
      })),
    })),
    correlations: objects(raw.correlations, (c) => ({
      a: text(c.a),
      b: text(c.b),
      metric: text(c.metric),
      spearman: number(c.spearman),
      designs: number(c.designs),
    })),
    commands: objects(raw.commands, (c) => ({ workload: text(c.workload), command: text(c.command) })),
    notes: texts(raw.notes),
  };
}

function recommendedOf(value: unknown, count: number): Exploration['recommended'] {
  const raw = object(value);
  const shown = number(raw.shown, -1);
  if (!Number.isInteger(shown) || shown < 0 || shown >= count) return null;
  return { index: number(raw.index), shown, knee: raw.knee === true, why: text(raw.why) };
}

// "--set x=4 --set y=2"; values with spaces are quoted for a shell.
export function settings(exploration: Exploration, design: number): string {
  return exploration.parameters
    .map((parameter, k) => [parameter.name, parameter.values[exploration.parameter[k][design]] ?? ''])
    .map(
      ([name, value]) =>
        `--set ${/^[\w./:%+-]+$/.test(value) && /^[\w.-]+$/.test(name) ? `${name}=${value}` : `'${`${name}=${value}`.replaceAll("'", "'\\''")}'`}`,
    )
    .join(' ');
}

export function commandOf(command: string, exploration: Exploration, design: number): string {
  return command.replaceAll('{set}', () => settings(exploration, design));
}
