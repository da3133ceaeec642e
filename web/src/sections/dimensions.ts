// What designs of an exploration can be placed and coloured by: metrics and parameters.
import { linearTicks, logTicks } from '../charts/ticks';
import type { ScatterAxis } from '../charts/scatter';
import { unitText, withPrefix, general } from '../base/units';
import type { Exploration } from '../decode/exploration';

export interface Dimension {
  key: string; // "m3", "p1", "front"
  name: string;
  values: Float64Array; // by design; of a parameter: which of its values
  labels: string[] | null; // of a parameter's values
  text(value: number): string;
}

export function metricName(exploration: Exploration, k: number): string {
  const { workload } = exploration.metrics[k];
  const name = plainName(exploration.metrics[k].name);
  return workload && exploration.workloads.length > 1 ? `${name}, ${workload}` : name;
}

// "latency_s" is written with its unit: "latency".
export function plainName(metric: string): string {
  return metric === 'peak_bytes' ? 'peak memory' : metric.replace(/_(s|pj|bytes|mm2|cycles)$/, '').replaceAll('_', ' ');
}

export function dimensionsOf(exploration: Exploration, workload: string): Dimension[] {
  const metrics = exploration.metrics
    .map((metric, k) => ({ metric, k }))
    .filter(({ metric }) => workload === '*' || metric.workload === '' || metric.workload === workload)
    .map(
      ({ metric, k }): Dimension => ({
        key: `m${k}`,
        name: metricName(exploration, k),
        values: exploration.metric[k],
        labels: null,
        text: (value) => unitText(value, metric.unit),
      }),
    );
  const parameters = exploration.parameters.map(
    (parameter, k): Dimension => ({
      key: `p${k}`,
      name: parameter.name,
      values: Float64Array.from(exploration.parameter[k]),
      labels: parameter.values,
      text: (value) => parameter.values[Math.round(value)] ?? '',
    }),
  );
  return [...metrics, ...parameters];
}

// A parameter's values stand side by side: points are spread a little around theirs, always the same way.
export function placesOf(dimension: Dimension, spread: number): Float64Array {
  if (!dimension.labels) return dimension.values;
  return dimension.values.map(
    (value, design) => value + ((((design * 0.6180339887 * spread) % 1) + 1) % 1) * 0.5 - 0.25,
  );
}

export function axisOf(dimension: Dimension, log: boolean): ScatterAxis {
  if (dimension.labels) {
    return {
      label: dimension.name,
      log: false,
      text: (value) => (Number.isInteger(value) ? dimension.text(value) : ''),
      ticks: (low, high) => dimension.labels!.map((_, k) => k).filter((k) => k >= low && k <= high),
    };
  }
  return {
    label: dimension.name,
    log,
    text: (value) => short(dimension.text(value)),
    ticks: log ? logTicks : linearTicks,
  };
}

function short(text: string): string {
  const number = Number(text);
  return text !== '' && Number.isFinite(number) && Math.abs(number) >= 1e4
    ? withPrefix(number)
    : Number.isFinite(number) && text !== ''
      ? general(number, 3)
      : text;
}
