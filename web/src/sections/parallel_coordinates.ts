// Designs as lines across an axis for each parameter and each objective: what those on the front have in common.
import { h, type Child } from '../base/dom';
import { unitText } from '../base/units';
import type { Exploration } from '../decode/exploration';
import { metricName } from './dimensions';

const mostFront = 300;
const mostOthers = 300;

interface Axis {
  name: string;
  low: string;
  high: string;
  at(design: number): number; // 0 to 1, upwards
}

const shape = (name: string, attributes: Record<string, string | number>, inside = ''): SVGElement => {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  if (inside) element.textContent = inside;
  return element;
};

export function axesOf(exploration: Exploration): Axis[] {
  const parameters = exploration.parameters
    .map((parameter, k): Axis => {
      const last = parameter.values.length - 1;
      return {
        name: parameter.name,
        low: parameter.values[0] ?? '',
        high: parameter.values[last] ?? '',
        at: (design) => (last > 0 ? exploration.parameter[k][design] / last : 0.5),
      };
    })
    .filter((_, k) => exploration.parameters[k].values.length > 1);
  const objectives = exploration.objectives.map(({ metric }): Axis => {
    const values = exploration.metric[metric].filter(Number.isFinite);
    const low = values.reduce((a, b) => Math.min(a, b), Infinity);
    const high = values.reduce((a, b) => Math.max(a, b), -Infinity);
    const logarithmic = low > 0 && high / low > 8;
    const place = (v: number) => (logarithmic ? Math.log(v / low) / Math.log(high / low) : (v - low) / (high - low));
    const { unit } = exploration.metrics[metric];
    return {
      name: metricName(exploration, metric) + (logarithmic ? ' (log)' : ''),
      low: unitText(low, unit),
      high: unitText(high, unit),
      at: (design) => (high > low ? place(exploration.metric[metric][design]) : 0.5),
    };
  });
  return [...parameters, ...objectives];
}

// Of many designs every so many; the caption says how many.
function some(designs: number[], most: number): number[] {
  const step = Math.max(1, Math.ceil(designs.length / most));
  return designs.filter((_, k) => k % step === 0);
}

export function parallelCoordinates(exploration: Exploration, pick: (design: number) => void): Child {
  const axes = axesOf(exploration);
  if (axes.length < 2) return h('p', { class: 'quiet' }, 'There is but one axis.');
  const [width, height, top, bottom, side] = [Math.max(720, axes.length * 130), 300, 40, 30, 60];
  const x = (k: number) => side + (k / (axes.length - 1)) * (width - 2 * side);
  const y = (share: number) => height - bottom - share * (height - top - bottom);
  const svg = shape('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': 'Parallel coordinates of designs', class: 'parallel' });
  const all = Array.from({ length: exploration.count }, (_, i) => i);
  const front = some(all.filter((i) => exploration.front[i] === 1), mostFront);
  const others = some(all.filter((i) => exploration.front[i] !== 1), mostOthers);
  const line = (design: number, kind: string) => {
    const points = axes.map((axis, k) => `${x(k).toFixed(1)},${y(axis.at(design)).toFixed(1)}`).join(' ');
    const path = shape('polyline', { points, class: kind });
    path.append(shape('title', {}, `design ${exploration.id[design]}`));
    path.addEventListener('click', () => pick(design));
    svg.append(path);
  };
  others.forEach((design) => line(design, 'other'));
  front.forEach((design) => line(design, design === exploration.recommended?.shown ? 'front chosen' : 'front'));
  axes.forEach((axis, k) => {
    svg.append(
      shape('path', { d: `M${x(k)} ${top}V${height - bottom}`, class: 'axis' }),
      shape('text', { x: x(k), y: 14, 'text-anchor': 'middle', class: 'name' }, axis.name),
      shape('text', { x: x(k), y: top - 6, 'text-anchor': 'middle' }, axis.high),
      shape('text', { x: x(k), y: height - bottom + 16, 'text-anchor': 'middle' }, axis.low),
    );
  });
  return [
    h('div', { class: 'scrolled' }, svg),
    h(
      'p',
      { class: 'quiet hint' },
      `${front.length} of the front in orange${exploration.recommended ? ', the recommended one thick' : ''}, ${others.length} others; click a line for its design`,
    ),
  ];
}
