// What the numbers rest on: what the default policy decided, values that the hardware file leaves out, notes, checks.
import { h, type Child } from '../base/dom';
import { secondsText } from '../base/units';
import { panel } from '../charts/section';
import { table } from '../charts/table';
import type { Evaluation } from '../decode/result';

export function assumptionsSection({ result, machine }: Evaluation): Child {
  const derived = machine?.derived ?? [];
  const lists = [
    listed('Filled in by the default policy', result.filled, 'Nothing: the plan decides everything.'),
    listed('Warnings', result.warnings, 'None.', 'warning'),
    listed('Notes', result.notes, 'None.'),
    panel(
      'Checked',
      h(
        'p',
        null,
        result.checked ? `${result.checked}.` : 'This result does not say what was checked.',
        Number.isFinite(result.wall_s) && h('span', { class: 'quiet' }, ` Computed in ${secondsText(result.wall_s)}.`),
      ),
    ),
  ];
  return [
    h('div', { class: 'columns' }, lists),
    panel(
      'Hardware values that its file leaves out',
      machine === null
        ? h('p', { class: 'quiet' }, 'This result has no facts about the machine: it was made from result.json alone.')
        : derived.length === 0
          ? h('p', { class: 'quiet' }, 'None: the file gives every value.')
          : table({
              label: 'Derived hardware values',
              rows: derived,
              filter: derived.length > 12 ? 'Filter values' : undefined,
              columns: [
                { name: 'value of', value: (d) => d.name },
                { name: 'value', value: (d) => d.value },
                { name: 'where it comes from', value: (d) => d.source },
              ],
            }).element,
    ),
  ];
}

function listed(title: string, lines: string[], none: string, kind = ''): HTMLElement {
  return panel(
    title,
    lines.length === 0
      ? h('p', { class: 'quiet' }, none)
      : h(
          'ul',
          { class: `lines ${kind}` },
          lines.map((line) => h('li', null, line)),
        ),
  );
}
