// Every operator with its numbers, and the roofline of those that multiply.
import { fill, h, type Child } from '../base/dom';
import { namedColour, styleColour } from '../base/colours';
import { Missing } from '../base/read';
import { byteSize, cyclesText, energyText, factor, general, grouped, percent, withPrefix } from '../base/units';
import { table, type Table } from '../charts/table';
import { facts, swatch } from '../charts/tooltip';
import type { Evaluation, Operator } from '../decode/result';

// Tables of operators, so that other charts can lead to one.
const tables = new WeakMap<Evaluation, { made: Table<Operator>; show(operator: Operator): void }>();

export function showOperator(evaluation: Evaluation, operator: Operator): void {
  const found = tables.get(evaluation);
  if (!found) return;
  found.made.setFilter(operator.name);
  found.show(operator);
  found.made.element.closest('section')?.scrollIntoView({ behavior: 'smooth', block: 'start' });
}

export function operatorsSection(evaluation: Evaluation): Child {
  const { result, clock } = evaluation;
  if (result.operators.length === 0) throw new Missing('This result lists no operators.');
  const most = (value: (o: Operator) => number) =>
    result.operators.reduce((largest, o) => Math.max(largest, value(o) || 0), 1e-12);
  const busy = most((o) => o.busy_cycles);
  const energy = most((o) => o.energy_pj);
  const details = h('div', { class: 'panel details', hidden: true, 'aria-live': 'polite' });
  const show = (operator: Operator) => {
    details.hidden = false;
    fill(details, operatorPanel(evaluation, operator));
    made.mark(operator);
  };
  const part = (o: Operator, value: number) =>
    o.busy_cycles > 0 && value > 0 ? percent(value / o.busy_cycles, 0) : '';
  const made = table({
    label: 'Operators',
    rows: result.operators,
    sort: { column: 5, down: true },
    first: 15,
    filter: 'Filter by name, type, phase, core',
    words: (o) =>
      `${o.name} ${o.operator} ${o.phase} ${o.cores.join(' ')} ${o.recomputed ? 'recomputed' : ''} stack:${o.stack}`,
    pick: show,
    columns: [
      {
        name: 'operator',
        value: (o) => o.name,
        show: (o) => [h('code', null, o.name), o.recomputed && h('span', { class: 'badge' }, 'recomputed')],
      },
      { name: 'type', value: (o) => o.operator },
      { name: 'phase', value: (o) => o.phase, show: (o) => [swatch(styleColour(o.phase)), o.phase] },
      {
        name: 'on',
        value: (o) => o.cores[0] ?? '',
        show: (o) => (o.cores.length > 1 ? `${o.cores[0]} +${o.cores.length - 1}` : (o.cores[0] ?? '')),
      },
      { name: 'MACs', value: (o) => o.macs, show: (o) => (o.macs > 0 ? withPrefix(o.macs) : '') },
      {
        name: 'core time',
        title: 'Of all cores together',
        value: (o) => o.busy_cycles,
        show: (o) => clock.text(o.busy_cycles),
        bar: (o) => o.busy_cycles / busy,
      },
      {
        name: 'stalled',
        title: 'Waiting for its operands, or slowed by others on the same links and ports; share of its core time',
        value: (o) => stalled(o) / o.busy_cycles,
        show: (o) => part(o, stalled(o)),
      },
      {
        name: 'waited',
        title: 'Before its tiles could start, together',
        value: (o) => o.wait_cycles,
        show: (o) => (o.wait_cycles > 0 ? clock.text(o.wait_cycles) : ''),
      },
      {
        name: 'of bound',
        title: 'Core time against the least that its cores allow',
        value: (o) => o.busy_cycles / o.bound_cycles,
        show: (o) => (o.bound_cycles > 0 ? factor(o.busy_cycles / o.bound_cycles) : ''),
      },
      { name: 'home traffic', value: (o) => traffic(o), show: (o) => (traffic(o) > 0 ? byteSize(traffic(o)) : '') },
      {
        name: 'energy',
        value: (o) => o.energy_pj,
        show: (o) => energyText(o.energy_pj),
        bar: (o) => o.energy_pj / energy,
      },
    ],
  });
  tables.set(evaluation, { made, show });
  return [h('div', { class: 'panel' }, made.element), details];
}

function stalled(operator: Operator): number {
  return (operator.stall_cycles || 0) + (operator.slowed_cycles || 0);
}

export function traffic(operator: Operator): number {
  return (operator.home_read_bytes || 0) + (operator.home_write_bytes || 0);
}

export function operatorFacts({ clock }: Evaluation, o: Operator): [string, Child][] {
  return [
    ['type', o.operator],
    ['phase', o.phase + (o.recomputed ? ', recomputed' : '')],
    ['stack', o.stack],
    [
      'cores',
      o.cores.length > 3 ? `${o.cores.slice(0, 3).join(', ')} and ${o.cores.length - 3} more` : o.cores.join(', '),
    ],
    ['tiles', grouped(o.tiles)],
    ['MACs', o.macs > 0 ? withPrefix(o.macs) : ''],
    ['runs', `${clock.text(o.start)} – ${clock.text(o.end)}`],
    [
      'core time',
      clock.hertz === null
        ? clock.text(o.busy_cycles)
        : `${clock.text(o.busy_cycles)} (${cyclesText(o.busy_cycles)} cycles)`,
    ],
    ['energy', energyText(o.energy_pj)],
    ['read, written at home', traffic(o) > 0 ? `${byteSize(o.home_read_bytes)}, ${byteSize(o.home_write_bytes)}` : ''],
    ['MACs per byte', o.macs > 0 && traffic(o) > 0 ? general(o.macs / traffic(o), 3) : ''],
  ];
}

function operatorPanel(evaluation: Evaluation, o: Operator): Child {
  const { clock } = evaluation;
  const times: [string, number][] = [
    ['compute', o.compute_cycles],
    ['stall', o.stall_cycles],
    ['load', o.load_cycles],
    ['fill', o.fill_cycles],
    ['slowed', o.slowed_cycles],
    ['wait', o.wait_cycles],
  ];
  return h(
    'div',
    { class: 'pinned' },
    h('div', null, h('h4', null, o.name), facts(operatorFacts(evaluation, o))),
    h(
      'div',
      null,
      h('h4', null, 'Time'),
      facts(times.filter(([, value]) => value > 0).map(([name, value]) => [name, clock.text(value)])),
    ),
    h(
      'div',
      null,
      h('h4', null, 'Energy'),
      facts(
        Object.entries(o.energy_breakdown)
          .filter(([, value]) => value > 0)
          .sort((a, b) => b[1] - a[1])
          .slice(0, 12)
          .map(([name, value]) => [name, energyText(value)]),
      ),
    ),
  );
}

export function phaseColour(operator: Operator): string {
  return namedColour(operator.phase);
}
