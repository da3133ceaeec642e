// The colour of every event, by what the reader chose.
import { manyColour, namedColour } from '../base/colours';
import { colour } from '../base/theme';
import type { Operator } from '../decode/result';
import { bindingOf } from '../sections/binding';
import type { Schedule } from '../decode/schedule';

export type Mode = 'stack' | 'phase' | 'bound' | 'operator' | 'kind';

export const modes: [Mode, string][] = [
  ['stack', 'stack'],
  ['phase', 'phase'],
  ['bound', 'what takes its time'],
  ['operator', 'operator type'],
  ['kind', 'kind of work'],
];

export interface Colouring {
  of: Uint16Array; // by event: which entry
  stalled: Float32Array; // by event: the share of its operator's time on cores in which nothing is computed
  entries: { name: string; colour(): string }[];
  legend: { index: number; name: string }[]; // those to be listed: not stacks
}

export function colouring(schedule: Schedule, operators: Operator[], mode: Mode): Colouring {
  const entries: Colouring['entries'] = [];
  const byName = new Map<string, number>();
  const entry = (name: string): number => {
    let index = byName.get(name);
    if (index === undefined) {
      index = Math.min(entries.length, 65535);
      byName.set(name, index);
      const at = index;
      entries.push({ name, colour: () => shade(mode, name, at) });
    }
    return index;
  };
  const byOperator = operators.map((operator) => entry(wordOf(operator, mode)));
  // What belongs to no operator is coloured by its kind.
  const byKind = schedule.kinds.map(entry);
  const stalls = operators.map((o) =>
    o.busy_cycles > 0 && Number.isFinite(o.compute_cycles) ? Math.max(0, 1 - o.compute_cycles / o.busy_cycles) : 0,
  );
  const stalled = Float32Array.from(schedule.node, (node) => (node >= 0 ? stalls[node] : 0));
  const of = new Uint16Array(schedule.count);
  for (let event = 0; event < schedule.count; ++event) {
    const kind = schedule.kind[event];
    const node = schedule.node[event];
    of[event] = mode !== 'kind' && node >= 0 ? byOperator[node] : kind >= 0 ? byKind[kind] : entry('');
  }
  const used = new Set(of);
  const legend = entries
    .map(({ name }, index) => ({ index, name }))
    .filter(({ index, name }) => used.has(index) && name !== '' && !(mode === 'stack' && name.startsWith('stack ')));
  return { of, stalled, entries, legend: legend.slice(0, 40) };
}

function wordOf(operator: Operator, mode: Mode): string {
  return mode === 'stack'
    ? `stack ${operator.stack}`
    : mode === 'phase'
      ? operator.phase
      : mode === 'bound'
        ? bindingOf(operator)
        : mode === 'operator'
        ? operator.operator
        : '';
}

function shade(mode: Mode, name: string, index: number): string {
  if (name === '') return colour('c-grey');
  return mode === 'stack' && name.startsWith('stack ') ? manyColour(index) : namedColour(name, index);
}
