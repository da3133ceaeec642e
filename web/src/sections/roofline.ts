// The roofline: how much an operator computes for each byte of home traffic, and how fast, under what the machine allows.
import { choice, fill, h, type Child } from '../base/dom';
import { styleColour, turnColour, turnStyle } from '../base/colours';
import { Missing } from '../base/read';
import { colour } from '../base/theme';
import { general, plural, withPrefix } from '../base/units';
import { scatter, type Overlay } from '../charts/scatter';
import { guarded } from '../charts/section';
import { facts, swatch } from '../charts/tooltip';
import type { Evaluation, Operator } from '../decode/result';
import { bindingOf, bindings } from './binding';
import { operatorFacts, phaseColour, showOperator, traffic } from './operators';

// Of those that multiply, by MACs; or of all, by the time that their cores compute.
export function rooflineSection(evaluation: Evaluation): Child {
  const place = h('div');
  const chosen = { what: 'macs', colour: 'phase' };
  const show = () =>
    fill(
      place,
      guarded(() =>
        chosen.what === 'macs' ? byMacs(evaluation, colourBy(chosen.colour)) : byTime(evaluation, colourBy(chosen.colour)),
      ),
    );
  show();
  return [
    h(
      'div',
      { class: 'controls' },
      choice('Operators', [['macs', 'that multiply, by MACs'], ['all', 'all, by core time']], chosen.what, (what) => {
        chosen.what = what;
        show();
      }),
      choice('Colours', [['phase', 'phase'], ['bound', 'what takes its time']], chosen.colour, (by) => {
        chosen.colour = by;
        show();
      }),
    ),
    place,
  ];
}

interface Colours {
  of(operator: Operator): string;
  legend(operators: Operator[]): Child;
}

function colourBy(what: string): Colours {
  if (what === 'phase')
    return {
      of: phaseColour,
      legend: (operators) =>
        [...new Set(operators.map((o) => o.phase))].map((phase) => h('span', null, swatch(styleColour(phase)), phase)),
    };
  return {
    of: (o) => turnColour(bindings.indexOf(bindingOf(o))),
    legend: (operators) =>
      bindings
        .filter((name) => operators.some((o) => bindingOf(o) === name))
        .map((name) => h('span', null, swatch(turnStyle(bindings.indexOf(name))), name)),
  };
}

// Core cycles per byte, and how many cores compute for it at a time; what moves no byte stands at the right edge.
function byTime(evaluation: Evaluation, colours: Colours): Child {
  const { result, machine } = evaluation;
  const placed = result.operators.filter((o) => o.compute_cycles > 0 && o.end > o.start);
  if (placed.length === 0) throw new Missing('No operator of this result says for how long it computes.');
  const known = placed.filter((o) => traffic(o) > 0).map((o) => o.compute_cycles / traffic(o));
  const edge = 3 * known.reduce((a, b) => Math.max(a, b), 1e-6);
  const x = Float64Array.from(placed, (o) => (traffic(o) > 0 ? o.compute_cycles / traffic(o) : edge));
  const y = Float64Array.from(placed, (o) => o.compute_cycles / (o.end - o.start));
  const cores = result.resources.filter((r) => r.kind === 'core').length || 1;
  const roofs = (machine?.roofs ?? []).filter((roof) => roof.bytes_per_cycle > 0);
  const still = placed.filter((o) => traffic(o) === 0).length;
  let picked = -1;
  const chart = scatter({
    label: `All ${placed.length} operators that compute`,
    height: 420,
    state: () => ({
      x: { label: 'core cycles per byte of home traffic', log: true, text: mark },
      y: { label: 'cores that compute at a time', log: true, text: mark },
      points: { x, y, count: placed.length, colour: (i) => colours.of(placed[i]), size: () => 4 },
      picked,
      include: { x: [], y: [cores * 1.4] },
    }),
    overlay: (overlay) => paintRoofs(overlay, cores, roofs, `${cores} ${cores === 1 ? 'core' : 'cores'}`),
    hover: (i) => [
      h('strong', null, placed[i].name),
      facts([['takes its time', bindingOf(placed[i])], ...operatorFacts(evaluation, placed[i])]),
    ],
    pick: (i) => {
      picked = i;
      chart.redraw();
      showOperator(evaluation, placed[i]);
    },
  });
  const left = result.operators.length - placed.length;
  return h(
    'div',
    { class: 'panel' },
    h('div', { class: 'legend' }, colours.legend(placed)),
    chart.element,
    still > 0 && h('p', { class: 'quiet hint' }, `${plural(still, 'operator')} without traffic of home memory at the right edge.`),
    left > 0 && h('p', { class: 'quiet hint' }, `${plural(left, 'operator')} compute nothing: views and copies.`),
  );
}

function byMacs(evaluation: Evaluation, colours: Colours): Child {
  const { result, machine } = evaluation;
  const placed = result.operators.filter((o) => o.macs > 0 && traffic(o) > 0 && o.end > o.start);
  if (placed.length === 0)
    throw new Missing('No operator of this result has both multiplications and traffic of home memory.');
  const x = Float64Array.from(placed, (o) => o.macs / traffic(o));
  const y = Float64Array.from(placed, (o) => o.macs / (o.end - o.start));
  const most = placed.reduce((largest, o) => Math.max(largest, o.macs), 1);
  const peak = machine && machine.peak_macs_per_cycle > 0 ? machine.peak_macs_per_cycle : NaN;
  const roofs = (machine?.roofs ?? []).filter((roof) => roof.bytes_per_cycle > 0);
  const ridges = roofs.map((roof) => peak / roof.bytes_per_cycle).filter(Number.isFinite);
  let picked = -1;

  const chart = scatter({
    label: `Roofline of ${placed.length} operators`,
    height: 420,
    state: () => ({
      x: { label: 'MACs per byte of home traffic', log: true, text: mark },
      y: { label: 'MACs per cycle', log: true, text: mark },
      points: {
        x,
        y,
        count: placed.length,
        colour: (i) => colours.of(placed[i]),
        size: (i) => 3 + 5 * Math.sqrt(placed[i].macs / most),
      },
      picked,
      include: { x: ridges.flatMap((ridge) => [ridge, ridge * 2]), y: Number.isFinite(peak) ? [peak * 1.4] : [] },
    }),
    overlay: (overlay) => paintRoofs(overlay, peak, roofs),
    hover: (i) => [
      h('strong', null, placed[i].name),
      facts([
        [
          'MACs per cycle',
          `${general(y[i], 3)}${Number.isFinite(peak) ? `, ${((y[i] / peak) * 100).toFixed(1)}% of the peak` : ''}`,
        ],
        ...operatorFacts(evaluation, placed[i]),
      ]),
    ],
    pick: (i) => {
      picked = i;
      chart.redraw();
      showOperator(evaluation, placed[i]);
    },
  });
  const left = result.operators.length - placed.length;
  return h(
    'div',
    { class: 'panel' },
    h(
      'div',
      { class: 'legend' },
      colours.legend(placed),
      h('span', { class: 'quiet' }, 'larger: more MACs; a click leads to the operator'),
    ),
    chart.element,
    left > 0 &&
      h(
        'p',
        { class: 'quiet hint' },
        `${plural(left, 'operator')} without multiplications or without traffic of home memory ${left === 1 ? 'has' : 'have'} no place here; "all, by core time" has them.`,
      ),
    roofs.length > 0 &&
      h(
        'p',
        { class: 'quiet hint' },
        'Speed is taken from an operator’s first tile to its last: bytes that were there before it began can lift it over a slanted roof, and pauses between its tiles lower it.',
      ),
    machine === null &&
      h('p', { class: 'quiet hint' }, 'The roofs are missing: this result was made from result.json alone.'),
  );
}

function mark(value: number): string {
  return value >= 1000 ? withPrefix(value) : general(value, 3);
}

function paintRoofs(
  overlay: Overlay,
  peak: number,
  roofs: { memory: string; bytes_per_cycle: number }[],
  words = `peak ${withPrefix(peak)} MAC/cycle`,
): void {
  const { context, box, ratio } = overlay;
  context.save();
  context.lineWidth = 1.75 * ratio;
  context.strokeStyle = colour('quiet');
  context.fillStyle = colour('quiet');
  context.font = `${11 * ratio}px sans-serif`;
  const ceiling = Number.isFinite(peak) ? overlay.y(peak) : box.top;
  if (Number.isFinite(peak)) {
    const first = Math.min(...roofs.map((roof) => overlay.x(peak / roof.bytes_per_cycle)), box.left + box.width);
    context.beginPath();
    context.moveTo(Math.max(box.left, first), ceiling);
    context.lineTo(box.left + box.width, ceiling);
    context.stroke();
    context.textAlign = 'right';
    context.fillText(words, box.left + box.width - 4 * ratio, ceiling - 5 * ratio);
    context.textAlign = 'left';
  }
  roofs.forEach((roof, k) => {
    // From where the roof meets the peak, down at one decade a decade.
    const high = Number.isFinite(peak) ? peak : 1e12;
    const low = high * 1e-9;
    context.setLineDash(k === 0 ? [] : [6 * ratio, 4 * ratio]);
    context.beginPath();
    context.moveTo(overlay.x(low / roof.bytes_per_cycle), overlay.y(low));
    context.lineTo(overlay.x(high / roof.bytes_per_cycle), overlay.y(high));
    context.stroke();
    // Words along the line, a little above it, near the left edge of the plot or where the line enters from below.
    const slope = (overlay.y(10) - overlay.y(1)) / (overlay.x(10) - overlay.x(1));
    const corner = { x: overlay.x(high / roof.bytes_per_cycle), y: overlay.y(high) };
    const room = Math.min(corner.x - box.left, (box.top + box.height - corner.y) / Math.abs(slope));
    if (room < 120 * ratio) return;
    const back = Math.min(room - 10 * ratio, room * 0.95);
    context.save();
    context.translate(corner.x - back, corner.y - back * slope);
    context.rotate(Math.atan(slope));
    context.fillText(`${roof.memory} ${general(roof.bytes_per_cycle, 3)} B/cycle`, 0, -6 * ratio);
    context.restore();
  });
  context.restore();
}
