// Shares of a whole: one bar in parts over a list of names, values and percentages.
import { h, type Child } from '../base/dom';
import { sum } from '../base/read';
import { percent } from '../base/units';
import { swatch } from './tooltip';

export interface Part {
  name: string;
  value: number;
  colour: string; // a CSS colour or var()
  note?: string;
}

export function shares(
  parts: Part[],
  text: (value: number) => string,
  total = sum(parts.map((part) => part.value)),
  most = 12,
): HTMLElement {
  const sorted = parts.filter((part) => part.value > 0);
  const shown = sorted.slice(0, sorted.length > most + 1 ? most : most + 1);
  const rest = sorted.slice(shown.length);
  if (rest.length > 0) {
    shown.push({ name: `${rest.length} others`, value: sum(rest.map((part) => part.value)), colour: 'var(--rest)' });
  }
  if (shown.length === 0) return h('p', { class: 'quiet' }, 'Nothing to show.');
  return h(
    'div',
    { class: 'shares' },
    h(
      'div',
      { class: 'whole', 'aria-hidden': 'true' },
      shown.map((part) =>
        h('span', {
          style: `flex-grow:${part.value};background:${part.colour}`,
          title: `${part.name}: ${text(part.value)}`,
        }),
      ),
    ),
    h(
      'ul',
      null,
      shown.map((part) =>
        h(
          'li',
          null,
          swatch(part.colour),
          h('span', { class: 'part-name', title: part.note ?? part.name }, part.name),
          h('span', { class: 'part-value' }, text(part.value)),
          h('span', { class: 'part-share' }, percent(part.value / total)),
        ),
      ),
    ),
  );
}

// Lengths side by side, each against the longest.
export function lengths(
  rows: { name: Child; value: number; text: string; colour: string; title?: string }[],
): HTMLElement {
  const longest = Math.max(...rows.map((row) => Math.abs(row.value)).filter(Number.isFinite), 0);
  return h(
    'ul',
    { class: 'lengths' },
    rows.map((row) =>
      h(
        'li',
        { title: row.title ?? null },
        h('span', { class: 'length-name' }, row.name),
        h(
          'span',
          { class: 'length-bar' },
          h('span', {
            style: `width:${longest > 0 ? (Math.abs(row.value) / longest) * 100 : 0}%;background:${row.colour}`,
          }),
        ),
        h('span', { class: 'length-value' }, row.text),
      ),
    ),
  );
}
