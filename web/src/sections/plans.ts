// Plans of optimize and checkpoint: what each costs, what it drops, and its file.
import { button, choice, copyButton, download, fill, h, names, type Child } from '../base/dom';
import { colour } from '../base/theme';
import { byteSize, change, clockOf, grouped, plural, secondsText, unitText, type Clock } from '../base/units';
import type { PlanData, PlansData } from '../data';
import { scatter, rule, type Brush } from '../charts/scatter';
import { panel } from '../charts/section';
import { table } from '../charts/table';
import { binaryTicks, linearTicks } from '../charts/ticks';
import { facts } from '../charts/tooltip';
import { decodePlans } from '../decode/plans';

type Metric = 'latency_cycles' | 'energy_pj' | 'peak_bytes' | 'saved_bytes_dropped';
const metrics: [Metric, string, string][] = [
  ['peak_bytes', 'peak memory', 'bytes'],
  ['latency_cycles', 'latency', 'cycles'],
  ['energy_pj', 'energy', 'pJ'],
  ['saved_bytes_dropped', 'saved bytes dropped', 'bytes'],
];

interface Choice {
  plan: PlanData;
  name: string;
}

export function plansSection(data: unknown): Child {
  const plans = decodePlans(data);
  const clock = clockOf(plans.clock_hz);
  const rows: Choice[] = plans.plans.map((plan, k) => ({ plan, name: plan.plan_file || `plan ${k + 1}` }));
  if (plans.start) rows.push({ plan: plans.start, name: 'start: all kept' });
  const details = h('div', { class: 'panel details', 'aria-live': 'polite' });
  const chosen = h('span', { class: 'quiet', 'aria-live': 'polite' });
  let axes: { x: Metric; y: Metric } = { x: 'peak_bytes', y: 'latency_cycles' };
  let picked = -1;

  const list = table({
    label: 'Plans',
    rows,
    sort: { column: 1, down: false },
    first: 20,
    pick: (row) => pick(rows.indexOf(row)),
    columns: [
      { name: 'plan', value: (r) => r.name },
      ...(['latency_cycles', 'energy_pj', 'peak_bytes'] as Metric[]).map((metric) => ({
        name: metrics.find(([name]) => name === metric)![1],
        value: (r: Choice) => r.plan[metric],
        show: (r: Choice) => [textOf(metric, r.plan[metric], clock), versus(r.plan, plans.start, metric)],
      })),
      {
        name: 'dropped',
        title: 'Saved bytes that are not kept',
        value: (r) => r.plan.saved_bytes_dropped,
        show: (r) => byteSize(r.plan.saved_bytes_dropped),
      },
      { name: 'recomputed', value: (r) => r.plan.recomputed.length },
      { name: 'paged', value: (r) => r.plan.paged.length },
      {
        name: 'stacks',
        value: (r) => r.plan.stacks ?? NaN,
        show: (r) => (r.plan.stacks! > 0 ? grouped(r.plan.stacks!) : ''),
      },
    ],
  });
  const lines: [Metric, number | null, string][] = [
    ['latency_cycles', plans.bound.latency_cycles, 'bound'],
    ['energy_pj', plans.bound.energy_pj, 'bound'],
    ['peak_bytes', plans.budget_bytes > 0 ? plans.budget_bytes : null, 'budget'],
    ['latency_cycles', plans.deadline_cycles > 0 ? plans.deadline_cycles : null, 'deadline'],
  ];
  // What lies far off would leave no room for the plans.
  const wished = (metric: Metric) => {
    const most = rows.reduce((largest, row) => Math.max(largest, row.plan[metric] || 0), 0);
    const least = rows.reduce((smallest, row) => Math.min(smallest, row.plan[metric] || Infinity), Infinity);
    return lines
      .filter(([of, value]) => of === metric && value !== null && value < most * 1.5 && value > least * 0.7)
      .map(([, value]) => value!);
  };
  const chart = scatter({
    label: 'Plans: a point each',
    height: 380,
    state: () => ({
      x: axisOf(axes.x, clock),
      y: axisOf(axes.y, clock),
      points: {
        x: rows.map((row) => row.plan[axes.x]),
        y: rows.map((row) => row.plan[axes.y]),
        count: rows.length,
        colour: (i) => colour(rows[i].plan === plans.start ? 'c-grey' : 'c-blue'),
        size: () => 5.5,
        strong: () => true,
      },
      picked,
      include: { x: wished(axes.x), y: wished(axes.y) },
    }),
    overlay: (overlay) => {
      for (const [metric, value, words] of lines) {
        if (value === null) continue;
        if (metric === axes.x) rule(overlay, { x: value }, words);
        if (metric === axes.y) rule(overlay, { y: value }, words);
      }
    },
    hover: (i) => [
      h('strong', null, rows[i].name),
      facts([
        ...metrics.map(([metric, name]): [string, Child] => [name, textOf(metric, rows[i].plan[metric], clock)]),
        ['recomputed', grouped(rows[i].plan.recomputed.length)],
        ['paged', grouped(rows[i].plan.paged.length)],
      ]),
    ],
    pick: (i) => pick(i),
    brush: (range) => {
      const inside = range === null ? rows : rows.filter((row) => within(row.plan, axes, range));
      list.setRows(inside);
      chosen.textContent =
        range === null
          ? ''
          : `${grouped(inside.length)} of ${grouped(rows.length)} selected; click beside the points to see all`;
      if (range === null) chart.clearBrush();
    },
  });
  const pick = (index: number) => {
    picked = index;
    chart.redraw();
    list.mark(rows[index] ?? null);
    fill(
      details,
      index < 0
        ? h('p', { class: 'quiet hint' }, 'Click a plan: what it recomputes and pages, and why.')
        : planPanel(rows[index], plans, clock),
    );
  };
  pick(-1);
  const axisChoice = (which: 'x' | 'y') =>
    choice(
      which === 'x' ? 'Across' : 'Up',
      metrics.map(([metric, name]): [string, string] => [metric, name]),
      axes[which],
      (value) => {
        axes = { ...axes, [which]: value as Metric };
        chart.clearBrush();
        list.setRows(rows);
        chart.rebuild();
      },
    );
  return [
    h(
      'p',
      { class: 'about' },
      `${plural(plans.plans.length, 'plan')} of ${plans.model} on ${plans.hardware} that none of the others beats${plans.objective ? `, for ${plans.objective}` : ''}; memory counted in ${plans.memory || 'home memory'}${plans.budget_bytes > 0 ? `, at most ${byteSize(plans.budget_bytes)}` : ''}${plans.deadline_cycles > 0 ? `; within ${clock.text(plans.deadline_cycles)}` : ''}. ${Number.isFinite(plans.evaluated) ? `${plural(plans.evaluated, 'plan')} evaluated` : ''}${Number.isFinite(plans.wall_s) ? ` in ${secondsText(plans.wall_s)}.` : ''}${plans.recipe_text ? ` Numbers: ${plans.recipe_text}.` : ''}`,
    ),
    remarks(plans),
    h(
      'div',
      { class: 'controls' },
      axisChoice('x'),
      axisChoice('y'),
      h('span', { class: 'quiet hint' }, 'drag over points to select them'),
      chosen,
    ),
    h('div', { class: 'panel' }, chart.element),
    panel(null, list.element),
    details,
  ];
}

function remarks(plans: PlansData): Child {
  const lines = [...plans.warnings, ...plans.notes];
  return (
    lines.length > 0 &&
    h(
      'ul',
      { class: 'lines' },
      lines.map((line) => h('li', null, line)),
    )
  );
}

function within(plan: PlanData, axes: { x: Metric; y: Metric }, range: Brush): boolean {
  return (
    plan[axes.x] >= range.x[0] && plan[axes.x] <= range.x[1] && plan[axes.y] >= range.y[0] && plan[axes.y] <= range.y[1]
  );
}

function textOf(metric: Metric, value: number, clock: Clock): string {
  return unitText(value, metrics.find(([name]) => name === metric)![2], clock);
}

function versus(plan: PlanData, start: PlanData | undefined, metric: Metric): Child {
  const words = start && start !== plan ? change(start[metric], plan[metric]) : '';
  return words && words !== '±0%' && h('span', { class: 'versus' }, ` ${words}`);
}

function axisOf(metric: Metric, clock: Clock) {
  const [, name, unit] = metrics.find(([key]) => key === metric)!;
  // Marks at round seconds, though values are cycles.
  const hertz = unit === 'cycles' ? (clock.hertz ?? 1) : 1;
  return {
    label: name,
    log: false,
    text: (value: number) => textOf(metric, value, clock),
    ticks:
      unit === 'bytes'
        ? binaryTicks
        : (low: number, high: number, count: number) =>
            linearTicks(low / hertz, high / hertz, count).map((tick) => tick * hertz),
  };
}

function planPanel({ plan, name }: Choice, plans: PlansData, clock: Clock): Child {
  const yaml = plan.plan_yaml ?? '';
  return h(
    'div',
    null,
    h('h4', null, name),
    h(
      'div',
      { class: 'pinned' },
      facts([
        ...metrics.map(([metric, title]): [string, Child] => [
          title,
          [textOf(metric, plan[metric], clock), versus(plan, plans.start, metric)],
        ]),
        ['order', plan.order ?? ''],
      ]),
      plan.why ? h('div', null, h('h4', null, 'Why'), h('p', null, plan.why)) : null,
    ),
    plan.recomputed.length > 0 && [h('h4', null, `Recomputed (${plan.recomputed.length})`), names(plan.recomputed)],
    plan.paged.length > 0 && [h('h4', null, `Paged (${plan.paged.length})`), names(plan.paged)],
    plan.recomputed.length + plan.paged.length === 0 && h('p', { class: 'quiet' }, 'Every saved tensor is kept.'),
    yaml !== '' &&
      h(
        'details',
        { class: 'fold' },
        h('summary', null, 'The plan’s file'),
        h(
          'div',
          { class: 'controls' },
          copyButton(() => yaml),
          button('Download', 'Save the plan as a file', () =>
            download(`${(plan.plan_file || 'plan.yaml').split('/').pop()}`, yaml),
          ),
        ),
        h('pre', { tabindex: 0 }, yaml),
      ),
  );
}
