// What takes the time of an operator on its cores: that of which most would have to go for it to be faster.
import type { Operator } from '../decode/result';

export const bindings = ['computes', 'waits for operands', 'loads', 'fills its pipeline', 'shares its memories'] as const;
export type Binding = (typeof bindings)[number];

export function bindingOf(operator: Operator): Binding {
  const cycles = [
    operator.compute_cycles,
    operator.stall_cycles,
    operator.load_cycles,
    operator.fill_cycles,
    operator.slowed_cycles,
  ].map((value) => (Number.isFinite(value) ? value : 0));
  return bindings[cycles.indexOf(Math.max(...cycles))];
}
