// How training went in each recipe: curves to switch on and off, against fp32.
import uPlot from 'uplot';
import { manyColour, turnColour } from '../base/colours';
import { button, choice, fill, h, type Child } from '../base/dom';
import { colour, onRedraw } from '../base/theme';
import { general, grouped } from '../base/units';
import { axis, plot } from '../charts/plot';
import { linearTicks, logTicks } from '../charts/ticks';
import { facts, hideTooltip, showTooltip, swatch } from '../charts/tooltip';
import { smoothed, type Precisions, type Recipe, type Training } from '../decode/precisions';
import type { Picking } from './precisions';

interface Curve {
  recipe: Recipe;
  training: Training;
  index: number;
}

type What = 'held-out' | 'difference' | 'training';
const whats: [What, string][] = [
  ['held-out', 'held-out loss'],
  ['difference', 'held-out loss less that of the reference'],
  ['training', 'loss of the batches, smoothed'],
];

export function curvesChart(precisions: Precisions, shared: Picking): Child {
  const curves = precisions.rows
    .filter((row) => row.training !== null)
    .map((recipe, index): Curve => ({ recipe, training: recipe.training!, index }));
  const reference = curves.find((curve) => curve.recipe === precisions.reference) ?? curves[0];
  const hidden = new Set<Recipe>();
  let what: What = 'held-out';
  const legend = h('div', { class: 'legend toggles', role: 'group', 'aria-label': 'Recipes that are drawn' });
  const visible = () => curves.filter((curve) => !hidden.has(curve.recipe));
  const colourOf = (curve: Curve) =>
    curve === reference ? colour('text') : curves.length > 12 ? manyColour(curve.index) : turnColour(curve.index);

  const made = plot(
    'Loss over the steps of training, a curve for each recipe',
    380,
    (width, height) => {
      const shown = visible();
      const points = shown.map((curve) => pointsOf(curve, reference, what));
      const steps = [...new Set(points.flatMap((list) => [...list.keys()]))].sort((a, b) => a - b);
      const finite = (value: number | undefined) => (Number.isFinite(value) ? value! : null);
      const values = points.map((list) => steps.map((step) => finite(list.get(step))));
      const known = values.flat().filter((value) => value !== null);
      const log = what !== 'difference' && Math.min(...known) > 0 && Math.max(...known) / Math.min(...known) > 20;
      return {
        options: {
          width,
          height,
          padding: [12, 16, 0, 0],
          legend: { show: false },
          scales: { x: { time: false }, y: { distr: log ? 3 : 1 } },
          axes: [
            axis('x', { label: 'step', ticks: linearTicks, text: grouped }),
            axis('y', {
              label: what === 'difference' ? `loss less that of ${reference.recipe.name}` : 'loss',
              ticks: log ? logTicks : linearTicks,
              text: (value) => general(value, 3),
            }),
          ],
          series: [
            {},
            ...shown.map((curve): uPlot.Series => {
              const strong = curve === reference || curve.recipe === shared.picked;
              return {
                scale: 'y',
                stroke: () => colourOf(curve),
                width: strong ? 2.75 : 1.5,
                dash: curve === reference ? [8, 4] : undefined,
                alpha: shared.picked && !strong ? 0.35 : 1,
                spanGaps: true,
                points: { show: false },
              };
            }),
          ],
          cursor: { y: false, points: { show: false }, drag: { x: true, y: false } },
        },
        data: [steps, ...values] as uPlot.AlignedData,
      };
    },
    hovered,
  );

  function hovered(chart: uPlot): void {
    made.element.dataset.curves = String(visible().length);
    chart.over.addEventListener('mousemove', () => {
      const index = chart.cursor.idx;
      const box = chart.over.getBoundingClientRect();
      if (index === null || index === undefined) return hideTooltip();
      const values = visible()
        .map((curve, k): [Curve, number] => [curve, Number(chart.data[k + 1][index] ?? NaN)])
        .filter(([, value]) => Number.isFinite(value))
        .sort((a, b) => a[1] - b[1]);
      showTooltip(
        { clientX: box.left + (chart.cursor.left ?? 0), clientY: box.top + (chart.cursor.top ?? 0) },
        h('strong', null, `step ${grouped(chart.data[0][index])}`),
        facts(values.map(([curve, value]) => [curve.recipe.name, general(value)])),
      );
    });
    chart.over.addEventListener('mouseleave', hideTooltip);
  }

  function renderLegend(): void {
    fill(
      legend,
      curves.map((curve) => {
        const off = hidden.has(curve.recipe);
        return h(
          'button',
          {
            type: 'button',
            class: off ? 'toggle out' : 'toggle',
            'aria-pressed': String(!off),
            title: `${off ? 'Show' : 'Hide'} ${curve.recipe.name}`,
            click: () => {
              if (off) hidden.delete(curve.recipe);
              else hidden.add(curve.recipe);
              renderLegend();
              made.rebuild();
            },
          },
          swatch(colourOf(curve)),
          curve.recipe.name,
          curve === reference ? ' (dashed)' : '',
        );
      }),
    );
  }

  const showAll = (on: boolean) => {
    hidden.clear();
    if (!on) for (const curve of curves) if (curve !== reference) hidden.add(curve.recipe);
    renderLegend();
    made.rebuild();
  };
  shared.changed(() => {
    if (shared.picked) hidden.delete(shared.picked);
    renderLegend();
    made.rebuild();
  });
  onRedraw(renderLegend);
  renderLegend();
  return [
    h(
      'div',
      { class: 'controls' },
      choice('Show', whats, what, (value) => {
        what = value as What;
        made.rebuild();
      }),
      button('All', 'Show all recipes', () => showAll(true)),
      button('None', `Show ${reference.recipe.name} alone`, () => showAll(false)),
    ),
    h(
      'div',
      { class: 'panel' },
      made.element,
      legend,
      h('p', { class: 'quiet hint keys' }, 'Click a name to hide its curve. Drag to zoom, double-click to see all.'),
    ),
  ];
}

// By step.
function pointsOf(curve: Curve, reference: Curve, what: What): Map<number, number> {
  if (what === 'training') {
    const { losses } = curve.training;
    return new Map(smoothed(losses, Math.max(1, Math.round(losses.length / 20))).map((loss, k) => [k + 1, loss]));
  }
  const held = new Map(curve.training.measured.map(({ step, loss }) => [step, loss]));
  if (what === 'held-out') return held;
  const base = new Map(reference.training.measured.map(({ step, loss }) => [step, loss]));
  return new Map([...held].filter(([step]) => base.has(step)).map(([step, loss]) => [step, loss - base.get(step)!]));
}
