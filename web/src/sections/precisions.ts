// Recipes of number formats on one network and one machine: accuracy against energy and memory, and how training went.
import { choice, fill, h, type Child } from '../base/dom';
import { colour } from '../base/theme';
import { general, grouped, plural } from '../base/units';
import { rule, scatter, type Overlay, type ScatterAxis } from '../charts/scatter';
import { panel, section, type Section } from '../charts/section';
import { binaryTicks, linearTicks, logTicks } from '../charts/ticks';
import { swatch } from '../charts/tooltip';
import { decodePrecisions, frontOf, type Precisions, type Recipe } from '../decode/precisions';
import { curvesChart } from './precision_curves';
import { names, recipeFacts, recipePanel, recipeTable, textOf, type Metric } from './precision_recipe';

// One recipe is picked at a time, wherever it was clicked.
export interface Picking {
  picked: Recipe | null;
  pick(recipe: Recipe | null): void;
  changed(listener: () => void): void;
}

function picking(): Picking {
  const listeners: (() => void)[] = [];
  const made: Picking = {
    picked: null,
    pick: (recipe) => {
      made.picked = made.picked === recipe ? null : recipe;
      for (const listener of listeners) listener();
    },
    changed: (listener) => listeners.push(listener),
  };
  return made;
}

export function precisionSections(data: unknown): Section[] {
  const shared = picking();
  const about =
    'A point is a recipe: what a training step costs in it on the machine, and how well a network that was trained in it does on samples held out.';
  const made = [section('recipes', 'Accuracy and cost', about, () => recipesPart(decodePrecisions(data), shared))];
  if (trains(data))
    made.push(section('curves', 'Loss curves', null, () => curvesChart(decodePrecisions(data), shared)));
  return made;
}

function trains(data: unknown): boolean {
  try {
    return decodePrecisions(data).rows.some((row) => row.training !== null);
  } catch {
    return false; // said where recipes are shown
  }
}

function recipesPart(precisions: Precisions, shared: Picking): Child {
  const { rows } = precisions;
  const trained = rows.some((row) => row.training !== null);
  const rated = rows.some((row) => Number.isFinite(row.accuracy));
  const details = h('div', { class: 'panel details', 'aria-live': 'polite' });
  let up: Metric = trained ? 'loss' : 'peak';
  const charts = (trained ? (['energy', 'peak'] as Metric[]) : (['energy'] as Metric[])).map((across) =>
    costChart(precisions, shared, across, () => up),
  );
  const list = recipeTable(precisions, (row) => shared.pick(row));
  shared.changed(() => {
    charts.forEach((chart) => chart.redraw());
    list.mark(shared.picked);
    fill(details, shared.picked ? recipePanel(shared.picked, precisions) : hint());
  });
  fill(details, hint());
  return [
    h('p', { class: 'about' }, summary(precisions)),
    precisions.warnings.map((warning) => h('p', { class: 'notice warning' }, warning)),
    h(
      'div',
      { class: 'controls' },
      rated &&
        choice(
          'Up',
          (['loss', 'accuracy'] as Metric[]).map((metric): [string, string] => [metric, names[metric]]),
          up,
          (value) => {
            up = value as Metric;
            charts.forEach((chart) => chart.rebuild());
          },
        ),
    ),
    h(
      'div',
      { class: 'legend' },
      h(
        'span',
        null,
        swatch('var(--c-orange)'),
        trained ? 'no other has a lower loss, less energy and less memory' : 'no other has less energy and less memory',
      ),
      h('span', null, swatch('var(--c-blue)'), 'others'),
      h('span', { class: 'quiet' }, 'the line joins those that no other beats in the two axes of its chart'),
    ),
    h(
      'div',
      { class: 'columns' },
      charts.map((chart) => h('div', { class: 'panel' }, chart.element)),
    ),
    absent(precisions),
    panel(
      null,
      h('div', { class: 'recipes' }, list.element),
      trained && h('p', { class: 'quiet hint' }, aboutSeeds(precisions)),
    ),
    details,
    remarks(precisions),
  ];
}

function hint(): Child {
  return h(
    'p',
    { class: 'quiet hint' },
    'Click a point or a row: all that is known of the recipe, here and in the curves.',
  );
}

function summary(precisions: Precisions): string {
  const { rows } = precisions;
  const best = rows.filter((row) => row.best).length;
  const training = rows.find((row) => row.training !== null)?.training;
  const how = training
    ? ` Trained for real: ${precisions.simulate_model}, ${plural(training.steps, 'step')} of ${training.optimizer} with ${training.loss}, batch ${grouped(training.batch)}, learning rate ${general(training.learning_rate)}, ${plural(training.parameters, 'parameter')}${training.data ? `, on ${training.data}` : ''}.`
    : '';
  return `${plural(rows.length, 'recipe')} of ${precisions.model} on ${precisions.hardware}, ${grouped(best)} of them on the front.${how}`;
}

function remarks({ notes }: Precisions): Child {
  return (
    notes.length > 0 &&
    h(
      'details',
      { class: 'fold' },
      h('summary', null, plural(notes.length, 'note')),
      h(
        'ul',
        { class: 'lines' },
        notes.map((note) => h('li', null, note)),
      ),
    )
  );
}

// How much of a difference means something.
function aboutSeeds({ rows, loss_tolerance }: Precisions): string {
  const first = rows.find((row) => row.training !== null);
  if (loss_tolerance === null || !first)
    return 'Each recipe was trained with one seed, and how much another would change is not known: small differences in loss may be chance.';
  const seed = first.training!.seed;
  return `Each recipe was trained with one seed. Losses within ${general(loss_tolerance)} count as equal on the front: so far apart are seeds ${seed} and ${seed + 1} of ${first.name} on the same samples, a rough measure of chance.`;
}

// What no chart can show, and why.
function absent({ rows }: Precisions): Child {
  const lines = new Map<string, string[]>(); // recipes by reason
  const add = (recipe: Recipe, why: string) => lines.set(why, [...(lines.get(why) ?? []), recipe.name]);
  for (const row of rows) {
    if (row.failed) add(row, `cannot run: ${row.failed}`);
    if (row.notTrained) add(row, `not trained: ${row.notTrained}`);
    if (row.training?.diverged) add(row, 'training came apart: its loss was no number any more');
    else if (row.training?.stopped)
      add(row, `stopped at step ${grouped(row.training.losses.length)} of ${grouped(row.training.steps)}`);
  }
  if (lines.size === 0) return null;
  return panel(
    'Not in the charts',
    h(
      'ul',
      { class: 'lines' },
      [...lines].map(([why, recipes]) => h('li', null, h('strong', null, recipes.join(', ')), ` ${why}`)),
    ),
  );
}

function costChart(precisions: Precisions, shared: Picking, across: Metric, up: () => Metric) {
  const { rows, reference } = precisions;
  const values = (metric: Metric) => rows.map((row) => row[metric]);
  const axis = (metric: Metric): ScatterAxis => {
    const log = metric !== 'accuracy' && spread(values(metric));
    return {
      label: metric === 'accuracy' ? `${names[metric]} (more is better)` : names[metric],
      log,
      text: (value) => textOf(metric, value),
      ticks: log ? marks : metric === 'peak' ? binaryTicks : linearTicks,
    };
  };
  return scatter({
    label: `Recipes: ${names[up()]} against ${names[across]}`,
    height: 400,
    state: () => ({
      x: axis(across),
      y: axis(up()),
      points: {
        x: values(across),
        y: values(up()),
        count: rows.length,
        colour: (i) => colour(rows[i].best ? 'c-orange' : 'c-blue'),
        size: () => 5,
        strong: (i) => rows[i].best,
        name: (i) => rows[i].name,
      },
      picked: shared.picked ? rows.indexOf(shared.picked) : -1,
    }),
    overlay: (overlay) => {
      const sign = up() === 'accuracy' ? -1 : 1;
      const y = values(up());
      join(
        overlay,
        frontOf(
          rows.map((row) => (row.costedAs ? NaN : row[across])),
          y.map((value) => sign * value),
        ).map((i) => [rows[i][across], y[i]]),
      );
      if (reference && Number.isFinite(reference[up()]) && up() !== 'peak') rule(overlay, { y: reference[up()] }, '');
    },
    hover: (i) => [h('strong', null, rows[i].name), recipeFacts(rows[i], reference)],
    pick: (i) => shared.pick(rows[i]),
  });
}

function join({ context, x, y, ratio }: Overlay, places: [number, number][]): void {
  context.save();
  context.strokeStyle = colour('c-orange');
  context.lineWidth = 1.75 * ratio;
  context.beginPath();
  places.forEach(([px, py], k) => (k === 0 ? context.moveTo(x(px), y(py)) : context.lineTo(x(px), y(py))));
  context.stroke();
  context.restore();
}

// Over little more than a decade powers of ten are too few.
function marks(low: number, high: number, count: number): number[] {
  return high / low < 30 ? linearTicks(low, high, count) : logTicks(low, high, count);
}

// Whether values run so far that a linear axis would hide most of them.
function spread(values: number[]): boolean {
  const known = values.filter(Number.isFinite);
  const low = Math.min(...known);
  return low > 0 && Math.max(...known) / low > 3;
}
