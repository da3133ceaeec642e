// Designs of an exploration: a chart with axes to choose, filters, a table, and a design's numbers and commands.
import { button, choice, fill, h, toggle, type Child } from '../base/dom';
import { scaleColour, scaleGradient, turnColour, turnStyle } from '../base/colours';
import { Missing } from '../base/read';
import { colour } from '../base/theme';
import { grouped, plural } from '../base/units';
import { scatter, type Brush } from '../charts/scatter';
import { panel } from '../charts/section';
import { table } from '../charts/table';
import { swatch } from '../charts/tooltip';
import type { Exploration } from '../decode/exploration';
import { axisOf, dimensionsOf, placesOf, type Dimension } from './dimensions';
import { columnsOf, designFacts, designPanel } from './exploration_design';
import { parallelCoordinates } from './parallel_coordinates';

const front = 'front';

export function exploreChart(exploration: Exploration): Child {
  const count = exploration.count;
  let workload = '*';
  let dimensions = dimensionsOf(exploration, workload);
  if (count === 0 || dimensions.length === 0) throw new Missing('No design of this exploration could be evaluated.');
  const objectiveKeys = exploration.objectives.map((objective) => `m${objective.metric}`);
  const dimension = (key: string): Dimension => dimensions.find((d) => d.key === key) ?? dimensions[0];
  const chosen = {
    x: objectiveKeys[0] ?? dimensions[0]?.key ?? '',
    y: objectiveKeys[1] ?? dimensions[1]?.key ?? dimensions[0]?.key ?? '',
    colour: front,
  };
  const log = { x: spread(dimension(chosen.x)), y: spread(dimension(chosen.y)) };
  let onlyFront = false;
  let brush: Brush | null = null;
  let picked = -1;
  const excluded = exploration.parameters.map(() => new Set<number>());
  const shown = new Uint8Array(count).fill(1); // by filters
  const selected = new Uint8Array(count).fill(1); // by filters and the brush

  const places: { x: Float64Array; y: Float64Array } = { x: new Float64Array(0), y: new Float64Array(0) };
  let colourOf: (design: number) => string = () => '';
  const controls = h('div', { class: 'controls' });
  const legend = h('div', { class: 'legend' });
  const status = h('span', { class: 'quiet', 'aria-live': 'polite' });
  const histograms = h('div', { class: 'histograms' });
  const details = h('div', { class: 'panel details', 'aria-live': 'polite' });

  const chart = scatter({
    label: `Designs of ${exploration.space}: a point each`,
    height: 460,
    state: () => ({
      x: axisOf(dimension(chosen.x), log.x),
      y: axisOf(dimension(chosen.y), log.y),
      points: {
        ...places,
        count,
        colour: (i) => (selected[i] ? colourOf(i) : colour('faint')),
        size: (i) => (exploration.front[i] ? 5 : count > 3000 ? 2.5 : 3.5),
        strong: (i) => exploration.front[i] === 1 && selected[i] === 1,
        name: (i) => (i === exploration.recommended?.shown ? (exploration.recommended.knee ? 'knee' : 'recommended') : ''),
        shown: (i) => shown[i] === 1,
      },
      picked,
    }),
    hover: (i) => designFacts(exploration, i),
    pick: (i) => pick(i),
    brush: (range) => {
      brush = range;
      if (range === null) chart.clearBrush();
      filter();
    },
  });
  const list = table<number>({
    label: 'Designs',
    rows: [],
    first: 10,
    sort: undefined,
    pick: (design) => pick(design),
    columns: columnsOf(exploration),
  });

  function filter(): void {
    for (let i = 0; i < count; ++i) {
      shown[i] =
        (!onlyFront || exploration.front[i] === 1) &&
        excluded.every((values, k) => !values.has(exploration.parameter[k][i]))
          ? 1
          : 0;
      const inside =
        brush === null ||
        (places.x[i] >= brush.x[0] &&
          places.x[i] <= brush.x[1] &&
          places.y[i] >= brush.y[0] &&
          places.y[i] <= brush.y[1]);
      selected[i] = shown[i] && inside ? 1 : 0;
    }
    const rows: number[] = [];
    for (let i = 0; i < count; ++i) if (selected[i]) rows.push(i);
    list.setRows(rows);
    const best = rows.filter((i) => exploration.front[i]).length;
    status.textContent = `${plural(rows.length, 'design')} selected of ${grouped(count)}, ${grouped(best)} of them on the front`;
    renderHistograms();
    chart.redraw();
  }

  function place(): void {
    places.x = placesOf(dimension(chosen.x), 1);
    places.y = placesOf(dimension(chosen.y), 1.7);
    recolour();
    brush = null;
    filter();
    chart.clearBrush();
    chart.rebuild();
  }

  function recolour(): void {
    if (chosen.colour === front) {
      colourOf = (i) => colour(exploration.front[i] ? 'c-orange' : 'c-blue');
      fill(
        legend,
        h('span', null, swatch('var(--c-orange)'), `on the front (${exploration.front.reduce((a, b) => a + b, 0)})`),
        h('span', null, swatch('var(--c-blue)'), 'others'),
      );
      return;
    }
    const by = dimension(chosen.colour);
    if (by.labels && by.labels.length <= 12) {
      colourOf = (i) => turnColour(by.values[i]);
      fill(
        legend,
        h('span', { class: 'quiet' }, by.name),
        by.labels.map((label, k) => h('span', null, swatch(turnStyle(k)), label)),
      );
      return;
    }
    const known = by.values.filter(Number.isFinite);
    const low = known.reduce((a, b) => Math.min(a, b), Infinity);
    const high = known.reduce((a, b) => Math.max(a, b), -Infinity);
    // Metrics run over decades: by their logarithm where they are all positive.
    const share =
      low > 0 && high / low > 20
        ? (v: number) => Math.log(v / low) / Math.log(high / low)
        : (v: number) => (high > low ? (v - low) / (high - low) : 0.5);
    colourOf = (i) =>
      Number.isFinite(by.values[i]) ? scaleColour(Math.round(share(by.values[i]) * 24) / 24) : colour('faint');
    fill(
      legend,
      h('span', { class: 'quiet' }, by.name),
      h('span', null, by.text(low)),
      h('span', { class: 'scale', style: `background:${scaleGradient}` }),
      h('span', null, by.text(high)),
    );
  }

  function renderControls(): void {
    const options = dimensions.map((d): [string, string] => [d.key, d.name]);
    const axis = (which: 'x' | 'y', label: string) => [
      choice(label, options, dimension(chosen[which]).key, (key) => {
        chosen[which] = key;
        log[which] = spread(dimension(key));
        renderControls();
        place();
      }),
      toggle('log', log[which], (on) => {
        log[which] = on;
        chart.rebuild();
      }),
    ];
    fill(
      controls,
      exploration.workloads.length > 1 &&
        choice(
          'Workload',
          [['*', 'all'], ...exploration.workloads.map((name): [string, string] => [name, name])],
          workload,
          (name) => {
            workload = name;
            dimensions = dimensionsOf(exploration, workload);
            for (const which of ['x', 'y'] as const) chosen[which] = sameMetric(chosen[which]);
            if (chosen.colour !== front) chosen.colour = sameMetric(chosen.colour);
            renderControls();
            place();
          },
        ),
      axis('x', 'Across'),
      axis('y', 'Up'),
      choice('Colour by', [[front, 'front'], ...options], chosen.colour, (key) => {
        chosen.colour = key;
        recolour();
        chart.redraw();
      }),
      toggle('Front only', onlyFront, (on) => {
        onlyFront = on;
        filter();
        chart.rebuild();
      }),
      button('Reset', 'Clear filters and selection', () => {
        excluded.forEach((values) => values.clear());
        onlyFront = false;
        renderControls();
        place();
      }),
    );
  }

  // The same metric of the workload that was chosen.
  function sameMetric(key: string): string {
    if (dimensions.some((d) => d.key === key)) return key;
    const old = exploration.metrics[Number(key.slice(1))];
    const k = exploration.metrics.findIndex(
      (metric) => metric.name === old?.name && (metric.workload === workload || metric.workload === ''),
    );
    return k >= 0 ? `m${k}` : (dimensions[0]?.key ?? '');
  }

  function renderHistograms(): void {
    fill(
      histograms,
      exploration.parameters.map((parameter, k) => {
        const all = new Int32Array(parameter.values.length);
        const some = new Int32Array(parameter.values.length);
        for (let i = 0; i < count; ++i) {
          const value = exploration.parameter[k][i];
          if (value < 0) continue;
          ++all[value];
          some[value] += selected[i];
        }
        const most = all.reduce((a, b) => Math.max(a, b), 1);
        return h(
          'fieldset',
          { class: 'histogram' },
          h('legend', null, parameter.name),
          parameter.values.map((label, value) => {
            const out = excluded[k].has(value);
            return h(
              'button',
              {
                type: 'button',
                class: out ? 'value out' : 'value',
                'aria-pressed': String(!out),
                title: `${label}: ${grouped(some[value])} of ${grouped(all[value])} designs selected; click to ${out ? 'include' : 'leave out'}`,
                click: () => {
                  if (out) excluded[k].delete(value);
                  else excluded[k].add(value);
                  filter();
                  chart.rebuild();
                },
              },
              h('span', { class: 'value-name' }, label),
              h(
                'span',
                { class: 'value-bar' },
                h('span', { class: 'all', style: `width:${(all[value] / most) * 100}%` }),
                h('span', { class: 'some', style: `width:${(some[value] / most) * 100}%` }),
              ),
              h('span', { class: 'value-count' }, grouped(some[value])),
            );
          }),
        );
      }),
    );
  }

  function pick(design: number): void {
    picked = design;
    chart.redraw();
    list.mark(design);
    fill(
      details,
      design < 0
        ? h(
            'p',
            { class: 'quiet hint' },
            'Click a point or a row: the design’s parameters, metrics and commands appear here.',
          )
        : designPanel(exploration, design),
    );
  }

  renderControls();
  place();
  pick(-1);
  return [
    controls,
    h(
      'div',
      { class: 'panel' },
      legend,
      chart.element,
      h(
        'div',
        { class: 'controls' },
        status,
        h('span', { class: 'spacer' }),
        h('span', { class: 'quiet hint' }, 'drag over points to select them; click beside them to see all'),
      ),
    ),
    details,
    panel('Parameters and objectives of the front, a line for each design', parallelCoordinates(exploration, pick)),
    panel('Parameters of the selection: click a value to leave it out', histograms),
    panel('Selected designs', list.element),
  ];
}

// Whether values run over so many decades that a linear axis would hide most of them.
function spread(dimension: Dimension | undefined): boolean {
  if (!dimension || dimension.labels) return false;
  const known = dimension.values.filter(Number.isFinite);
  const low = known.reduce((a, b) => Math.min(a, b), Infinity);
  const high = known.reduce((a, b) => Math.max(a, b), -Infinity);
  return low > 0 && high / low > 8;
}
