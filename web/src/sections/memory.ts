// Memory over time: what lies in each memory by role, the peak, and the tensors alive there.
import uPlot from 'uplot';
import { choice, fill, h, toggle, type Child } from '../base/dom';
import { namedColour, styleColour } from '../base/colours';
import { Missing, sum } from '../base/read';
import { colour } from '../base/theme';
import { byteSize, percent, timeMarks, cyclesText } from '../base/units';
import { guardedPanel } from '../charts/section';
import { axis, plot } from '../charts/plot';
import { table } from '../charts/table';
import { binaryTicks, linearTicks } from '../charts/ticks';
import { facts, hideTooltip, showTooltip, swatch } from '../charts/tooltip';
import { horizon, type Evaluation, type Memory } from '../decode/result';
import { addressMap } from './address_map';
import { homeMemory, peakOf } from './summary';

export function memorySection(evaluation: Evaluation): Child {
  const { result } = evaluation;
  const used = result.memories.filter((memory) => memory.curve.at.length > 0);
  if (used.length === 0) throw new Missing('This result lists no memory with anything in it.');
  const first = homeMemory(used) ?? used[0];
  const place = h('div');
  const show = (memory: Memory) => fill(place, memoryParts(evaluation, memory));
  show(first);
  const options = used.map((memory): [string, string] => [memory.name, `${memory.name} (${byteSize(peakOf(memory))})`]);
  return [
    h(
      'div',
      { class: 'controls' },
      choice('Memory', options, first.name, (name) => show(used.find((memory) => memory.name === name) ?? first)),
    ),
    place,
  ];
}

function memoryParts(evaluation: Evaluation, memory: Memory): Child {
  return [
    guardedPanel(null, () => memoryChart(evaluation, memory)),
    guardedPanel(`Alive at the peak of ${memory.name}, ${evaluation.clock.text(memory.peak_at)} after the start`, () =>
      aliveTable(evaluation, memory),
    ),
    guardedPanel(`Addresses in ${memory.name}`, () => addressMap(evaluation, memory)),
  ];
}

function memoryChart(evaluation: Evaluation, memory: Memory): Child {
  const { clock } = evaluation;
  const { roles, at, bytes } = memory.curve;
  if (bytes.length !== at.length)
    throw new Missing('The curve of this memory has times and sizes of different number.');
  const shown = roles
    .map((name, role) => ({ name, role, most: bytes.reduce((most, row) => Math.max(most, row[role] || 0), 0) }))
    .filter((role) => role.most > 0);
  const unit = clock.hertz ?? 1;
  const end = Math.max(horizon(evaluation.result), at[at.length - 1]);
  const times = [...at, end].map((time) => time / unit);
  // The topmost first: each lower one is painted over it.
  const stacked = shown.map((_, k) => {
    const heights = bytes.map((row) => sum(shown.slice(0, shown.length - k).map((role) => row[role.role] || 0)));
    return [...heights, heights[heights.length - 1]];
  });
  const peak = Math.max(peakOf(memory), memory.live_peak_bytes, 0);
  const full = memory.capacity_bytes > 0 ? peak / memory.capacity_bytes : 0;
  let withCapacity = full > 0.35;

  const drawMarks = (u: uPlot) => {
    const { ctx, bbox } = u;
    const ratio = devicePixelRatio || 1;
    ctx.save();
    ctx.setLineDash([5 * ratio, 4 * ratio]);
    ctx.font = `600 ${11 * ratio}px sans-serif`;
    const x = u.valToPos(memory.peak_at / unit, 'x', true);
    if (x >= bbox.left && x <= bbox.left + bbox.width) {
      ctx.strokeStyle = ctx.fillStyle = colour('text');
      line(ctx, x, bbox.top, x, bbox.top + bbox.height, 1.25 * ratio);
      const right = x < bbox.left + bbox.width * 0.75;
      ctx.textAlign = right ? 'left' : 'right';
      ctx.fillText(`peak ${byteSize(memory.live_peak_bytes)}`, x + (right ? 6 : -6) * ratio, bbox.top + 12 * ratio);
    }
    if (withCapacity && memory.capacity_bytes > 0) {
      const y = u.valToPos(memory.capacity_bytes, 'y', true);
      ctx.strokeStyle = ctx.fillStyle = colour('critical');
      line(ctx, bbox.left, y, bbox.left + bbox.width, y, 1.5 * ratio);
      ctx.textAlign = 'right';
      ctx.fillText(`capacity ${byteSize(memory.capacity_bytes)}`, bbox.left + bbox.width - 4 * ratio, y + 13 * ratio);
    }
    ctx.restore();
  };

  const made = plot(
    `Bytes in ${memory.name} over time, by role`,
    300,
    (width, height) => ({
      options: {
        width,
        height,
        padding: [12, 16, 0, 0],
        legend: { show: false },
        scales: {
          x: { time: false },
          y: {
            range: (_u, _low, high) => [
              0,
              (withCapacity ? Math.max(high, memory.capacity_bytes) : Math.max(high, 1)) * 1.12,
            ],
          },
        },
        axes: [
          axis('x', { label: clock.hertz === null ? 'cycles' : 'time', ticks: linearTicks, text: String }),
          axis('y', { label: 'bytes', ticks: binaryTicks, text: byteSize }),
        ].map((one, k) =>
          k === 0
            ? {
                ...one,
                values: (_u: uPlot, marks: number[]) =>
                  clock.hertz === null ? marks.map(cyclesText) : timeMarks(marks),
              }
            : one,
        ),
        series: [
          {},
          ...shown.map((_, k): uPlot.Series => {
            const role = shown[shown.length - 1 - k];
            return {
              scale: 'y',
              paths: uPlot.paths.stepped!({ align: 1 }),
              fill: () => namedColour(role.name, role.role),
              stroke: () => colour('panel'),
              width: 0.75,
              points: { show: false },
            };
          }),
        ],
        cursor: { y: false, points: { show: false }, drag: { x: true, y: false } },
        hooks: { draw: [drawMarks] },
      },
      data: [times, ...stacked] as uPlot.AlignedData,
    }),
    (chart) => {
      chart.over.addEventListener('mousemove', (event) => {
        const x = chart.posToVal(event.clientX - chart.over.getBoundingClientRect().left, 'x');
        let row = times.findIndex((time) => time > x) - 1;
        if (row < 0) row = x >= times[times.length - 1] ? bytes.length - 1 : 0;
        const values = shown.map((role) => ({ role, value: bytes[Math.min(row, bytes.length - 1)][role.role] || 0 }));
        showTooltip(
          event,
          h('strong', null, `${byteSize(sum(values.map((v) => v.value)))} at ${clock.text(x * unit)}`),
          facts(
            values
              .filter((v) => v.value > 0)
              .reverse()
              .map((v) => [v.role.name, byteSize(v.value)]),
          ),
        );
      });
      chart.over.addEventListener('mouseleave', hideTooltip);
    },
  );
  return [
    h(
      'div',
      { class: 'controls' },
      memory.capacity_bytes > 0 &&
        h(
          'span',
          { class: 'quiet' },
          `${byteSize(peak)} at the peak, ${percent(full)} of ${byteSize(memory.capacity_bytes)}`,
        ),
      memory.capacity_bytes > 0 &&
        toggle('Show the capacity', withCapacity, (on) => {
          withCapacity = on;
          made.rebuild();
        }),
    ),
    made.element,
    h(
      'div',
      { class: 'legend' },
      shown.map((role) => h('span', null, swatch(styleColour(role.name, role.role)), role.name)),
    ),
    h('p', { class: 'quiet hint keys' }, 'Drag to zoom, double-click to see all.'),
  ];
}

function line(context: CanvasRenderingContext2D, x0: number, y0: number, x1: number, y1: number, width: number): void {
  context.lineWidth = width;
  context.beginPath();
  context.moveTo(x0, y0);
  context.lineTo(x1, y1);
  context.stroke();
}

function aliveTable({ clock }: Evaluation, memory: Memory): Child {
  const total = sum(memory.alive_at_peak.map((tensor) => tensor.bytes));
  const largest = memory.alive_at_peak.reduce((most, tensor) => Math.max(most, tensor.bytes || 0), 1);
  return table({
    label: 'Tensors alive at the peak',
    rows: memory.alive_at_peak,
    sort: { column: 2, down: true },
    first: 10,
    filter: 'Filter tensors',
    columns: [
      { name: 'tensor', value: (t) => t.name, show: (t) => h('code', null, t.name) },
      { name: 'role', value: (t) => t.role, show: (t) => [swatch(styleColour(t.role)), t.role] },
      { name: 'size', value: (t) => t.bytes, show: (t) => byteSize(t.bytes), bar: (t) => t.bytes / largest },
      { name: 'share', value: (t) => t.bytes / total, show: (t) => percent(t.bytes / total) },
      { name: 'from', value: (t) => t.start, show: (t) => clock.text(t.start) },
      { name: 'to', value: (t) => t.end, show: (t) => clock.text(t.end) },
    ],
  }).element;
}
