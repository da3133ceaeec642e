// Two evaluations: what changed, part by part, and what they assume differently.
import { h, type Child } from '../base/dom';
import { styleColour } from '../base/colours';
import { change, energyText, signed, unitText, type Clock } from '../base/units';
import type { ComparisonData } from '../data';
import { guardedPanel } from '../charts/section';
import { table } from '../charts/table';
import { swatch } from '../charts/tooltip';
import { decodeComparison, groupsOf, type Group } from '../decode/comparison';

export function comparisonSection(data: unknown, clocks: Clock[]): Child {
  const comparison = decodeComparison(data);
  // Cycles of two clocks cannot be compared as times.
  const clock = clocks.length === 2 && clocks[0].hertz === clocks[1].hertz ? clocks[0] : undefined;
  const groups = groupsOf(comparison);
  return [
    h(
      'p',
      { class: 'about' },
      h('span', { class: 'badge' }, 'A'),
      ` ${comparison.a} `,
      h('span', { class: 'badge' }, 'B'),
      ` ${comparison.b}`,
    ),
    numbers(comparison),
    h(
      'div',
      { class: 'cards' },
      groups
        .filter(({ total }) => Number.isFinite(total.a) && Number.isFinite(total.b) && !total.part.includes(' by '))
        .slice(0, 4)
        .map((group) => totalCard(group, clock)),
    ),
    h(
      'div',
      { class: 'columns' },
      groups
        .filter((group) => group.parts.some((part) => part.delta !== 0))
        .map((group) => guardedPanel(`What changed ${group.total.part}`, () => waterfall(group, clock))),
    ),
    guardedPanel('Assumptions that differ', () =>
      comparison.assumptions.length === 0
        ? h('p', { class: 'quiet' }, 'None.')
        : table({
            label: 'Assumptions that differ',
            rows: comparison.assumptions,
            columns: [
              { name: 'what', value: (s) => s.what },
              { name: 'A', value: (s) => s.a },
              { name: 'B', value: (s) => s.b },
            ],
          }).element,
    ),
    guardedPanel('Operators that differ most', () => operatorTable(comparison, clock)),
    guardedPanel('All parts', () => partTable(comparison, clock)),
  ];
}

function numbers({ recipe_text: { a, b } }: ComparisonData): Child {
  if (!a && !b) return null;
  return h('p', { class: 'about' }, a === b ? `Numbers: ${a}` : `Numbers of A: ${a}; of B: ${b}`);
}

function totalCard({ total }: Group, clock: Clock | undefined): HTMLElement {
  const better = total.delta < 0;
  return h(
    'div',
    { class: 'card' },
    h('h3', null, total.part[0]?.toUpperCase() + total.part.slice(1)),
    h('div', { class: 'big' }, unitText(total.b, total.unit, clock)),
    h(
      'div',
      { class: 'under' },
      `from ${unitText(total.a, total.unit, clock)} `,
      total.delta === 0 ? 'unchanged' : h('b', { class: better ? 'less' : 'more' }, change(total.a, total.b)),
    ),
  );
}

// From A's total to B's, a bar for each part where the one before it ended.
function waterfall({ total, parts }: Group, clock: Clock | undefined): Child {
  const changed = parts.filter((part) => part.delta !== 0);
  let level = total.a;
  const steps = changed.map((part) => {
    const from = level;
    level += part.delta;
    return { part, from, to: level };
  });
  const ends = [total.a, total.b, ...steps.flatMap((step) => [step.from, step.to])].filter(Number.isFinite);
  const high = Math.max(...ends);
  const lowest = Math.min(...ends);
  // The axis starts at zero unless the changes are too small to be seen from there.
  const low = high > 0 && (high - lowest) / high > 0.15 ? Math.min(0, lowest) : lowest - (high - lowest) * 0.6;
  const at = (value: number) => ((value - low) / Math.max(high - low, 1e-300)) * 100;
  const bar = (name: Child, from: number, to: number, colour: string, text: string, kind = '') =>
    h(
      'li',
      { class: kind },
      h('span', { class: 'length-name' }, name),
      h(
        'span',
        { class: 'length-bar' },
        h('span', {
          style: `margin-left:${at(Math.min(from, to))}%;width:${Math.max(0.4, at(Math.max(from, to)) - at(Math.min(from, to)))}%;background:${colour}`,
        }),
      ),
      h('span', { class: 'length-value' }, text),
    );
  return [
    h(
      'ul',
      { class: 'lengths waterfall' },
      bar('A', low, total.a, 'var(--rest)', unitText(total.a, total.unit, clock), 'end'),
      steps.map(({ part, from, to }, k) => {
        const name = part.part.slice(total.part.length + 2);
        return bar(
          [swatch(styleColour(name, k)), name],
          from,
          to,
          part.delta > 0 ? 'var(--c-red)' : 'var(--c-green)',
          signed(unitText(part.delta, part.unit, clock), part.delta),
        );
      }),
      bar('B', low, total.b, 'var(--rest)', unitText(total.b, total.unit, clock), 'end'),
    ),
    low !== 0 && h('p', { class: 'quiet hint' }, 'The bars do not start at zero.'),
  ];
}

function operatorTable(comparison: ComparisonData, clock: Clock | undefined): Child {
  const cycles = (value: number) => unitText(value, 'cycles', clock);
  return table({
    label: 'Operators that differ most',
    rows: comparison.operators,
    filter: 'Filter operators',
    first: 12,
    columns: [
      { name: 'operator', value: (o) => o.name, show: (o) => h('code', null, o.name) },
      { name: 'phase', value: (o) => o.phase, show: (o) => [swatch(styleColour(o.phase)), o.phase] },
      { name: 'core time A', value: (o) => o.a_cycles, show: (o) => cycles(o.a_cycles) },
      { name: 'B', value: (o) => o.b_cycles, show: (o) => cycles(o.b_cycles) },
      {
        name: 'change',
        value: (o) => o.b_cycles - o.a_cycles,
        show: (o) => [
          signed(cycles(o.b_cycles - o.a_cycles), o.b_cycles - o.a_cycles),
          h('span', { class: 'versus' }, ` ${change(o.a_cycles, o.b_cycles)}`),
        ],
      },
      { name: 'energy A', value: (o) => o.a_pj, show: (o) => energyText(o.a_pj) },
      { name: 'B', value: (o) => o.b_pj, show: (o) => energyText(o.b_pj) },
      {
        name: 'change',
        value: (o) => o.b_pj - o.a_pj,
        show: (o) => [
          signed(energyText(o.b_pj - o.a_pj), o.b_pj - o.a_pj),
          h('span', { class: 'versus' }, ` ${change(o.a_pj, o.b_pj)}`),
        ],
      },
    ],
  }).element;
}

function partTable(comparison: ComparisonData, clock: Clock | undefined): Child {
  return table({
    label: 'All parts',
    rows: comparison.rows,
    filter: 'Filter parts',
    first: 16,
    columns: [
      { name: 'part', value: (r) => r.part, show: (r) => (r.part.includes(': ') ? r.part : h('b', null, r.part)) },
      { name: 'A', value: (r) => r.a, show: (r) => unitText(r.a, r.unit, clock) },
      { name: 'B', value: (r) => r.b, show: (r) => unitText(r.b, r.unit, clock) },
      {
        name: 'change',
        value: (r) => r.delta,
        show: (r) => (r.delta === 0 ? '' : signed(unitText(r.delta, r.unit, clock), r.delta)),
      },
      { name: 'of A', value: (r) => r.delta / r.a, show: (r) => (r.delta === 0 ? '' : change(r.a, r.b)) },
    ],
  }).element;
}
