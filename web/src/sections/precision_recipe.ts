// One recipe of number formats: its numbers against those of the reference, in a panel and in a row.
import { h, type Child } from '../base/dom';
import { byteSize, change, general, grouped, percent, secondsText, signed, unitText } from '../base/units';
import { table, type Table } from '../charts/table';
import { facts } from '../charts/tooltip';
import type { Precisions, Recipe } from '../decode/precisions';

export type Metric = 'energy' | 'peak' | 'latency' | 'loss' | 'accuracy';
export const names: Record<Metric, string> = {
  energy: 'energy of a step',
  peak: 'peak memory',
  latency: 'latency of a step',
  loss: 'held-out loss',
  accuracy: 'held-out accuracy',
};
const units: Record<Metric, string> = { energy: 'pJ', peak: 'bytes', latency: 's', loss: '', accuracy: '%' };

export function textOf(metric: Metric, value: number): string {
  return metric === 'accuracy' ? percent(value) : metric === 'loss' ? general(value) : unitText(value, units[metric]);
}

function versus(row: Recipe, reference: Recipe | null, metric: Metric): Child {
  if (!reference || reference === row || reference[metric] === row[metric]) return null;
  const points = (row[metric] - reference[metric]) * 100;
  const words =
    metric === 'accuracy'
      ? Number.isFinite(points) && `${signed(points.toFixed(1), points)} points`
      : change(reference[metric], row[metric]);
  return words && h('span', { class: 'versus' }, ` ${words}`);
}

function cost(row: Recipe, reference: Recipe | null, metric: Metric): Child {
  return Number.isFinite(row[metric]) ? [textOf(metric, row[metric]), versus(row, reference, metric)] : '';
}

export function recipeFacts(row: Recipe, reference: Recipe | null): HTMLElement {
  const size = (bytes: number) => (Number.isFinite(bytes) ? byteSize(bytes) : '');
  return facts([
    ...(['loss', 'accuracy', 'latency', 'energy', 'peak'] as Metric[]).map((metric): [string, Child] => [
      names[metric],
      cost(row, reference, metric),
    ]),
    ['before the step begins', size(row.fixed)],
    ['saved for the backward part', size(row.saved)],
    ['quantized copies', size(row.copies)],
    ['padding in them', size(row.padding)],
    ['elements quantized in a step', Number.isFinite(row.quantized) ? grouped(row.quantized) : ''],
  ]);
}

export function recipePanel(row: Recipe, { reference }: Precisions): Child {
  const training = row.training;
  return h(
    'div',
    null,
    h('h4', null, row.name, row.best && ' ', row.best && h('span', { class: 'badge good' }, 'on the front')),
    row.failed !== '' && h('p', null, `It cannot run on the machine: ${row.failed}`),
    row.costedAs !== '' &&
      h(
        'p',
        null,
        `The machine cannot run its products as they are: they are costed as if converted to ${row.costedAs}, and the recipe is off the front.`,
      ),
    h(
      'div',
      { class: 'pinned' },
      recipeFacts(row, reference),
      training &&
        h(
          'div',
          null,
          facts([
            ['steps', `${grouped(training.losses.length)} of ${grouped(training.steps)}`],
            ['loss of the first batch', Number.isFinite(training.losses[0]) ? general(training.losses[0]) : ''],
            ['ended', training.diverged ? 'diverged' : training.stopped ? 'stopped early' : 'as planned'],
            ['seed', String(training.seed)],
          ]),
        ),
    ),
  );
}

export function recipeTable({ rows, reference }: Precisions, pick: (recipe: Recipe) => void): Table<Recipe> {
  const trained = rows.some((row) => row.training !== null);
  const metric = (name: Metric, title: string) => ({
    name: title,
    value: (row: Recipe) => row[name],
    show: (row: Recipe) => cost(row, reference, name) || '–',
  });
  const bytes = (name: 'fixed' | 'saved' | 'copies' | 'padding', title: string, meaning: string) => ({
    name: title,
    title: meaning,
    value: (row: Recipe) => row[name],
    show: (row: Recipe) => byteSize(row[name]),
  });
  return table<Recipe>({
    label: 'Recipes',
    rows,
    first: 30,
    pick,
    columns: [
      {
        name: 'recipe',
        value: (row) => row.name,
        show: (row) => [
          row.name,
          row.costedAs !== '' &&
            h(
              'span',
              { class: 'under', title: 'The machine cannot run its products as they are' },
              `costed as ${row.costedAs}`,
            ),
        ],
      },
      {
        name: 'front',
        title: 'No other is better in loss, energy and memory; equal losses are said below',
        value: (row) => (row.best ? 'front' : ''),
        show: (row) => row.best && h('span', { class: 'badge good' }, 'front'),
      },
      ...(trained
        ? [
            {
              name: 'loss',
              title: 'On samples held out, after the last step',
              value: (row: Recipe) => row.loss,
              show: (row: Recipe) =>
                row.training?.diverged
                  ? 'diverged'
                  : row.training?.stopped
                    ? `stopped at ${grouped(row.training.losses.length)}`
                    : cost(row, reference, 'loss') || '–',
            },
            { name: 'accuracy', value: (row: Recipe) => row.accuracy, show: (row: Recipe) => percent(row.accuracy) },
          ]
        : []),
      {
        ...metric('latency', 'latency'),
        show: (row) => (Number.isFinite(row.latency) ? secondsText(row.latency) : '–'),
      },
      metric('energy', 'energy'),
      metric('peak', 'peak memory'),
      bytes('fixed', 'static', 'Parameters, optimizer state, buffers and a batch'),
      bytes('saved', 'saved', 'Kept for the backward part'),
      bytes('copies', 'copies', 'Quantized copies'),
      bytes('padding', 'padding', 'What fills groups of the copies up'),
    ],
  });
}
