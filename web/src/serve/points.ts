// What was tried last: latency, energy and memory, one strip each, from left to right in the order of the trials.
import { h } from '../base/dom';
import { byteSize, energyText, secondsText } from '../base/units';

export interface Point {
  latency_s: number;
  energy_pj: number;
  peak_bytes: number;
  label: string;
  open(): void;
}

const shape = (name: string, attributes: Record<string, string | number>, inside = ''): SVGElement => {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  if (inside) element.textContent = inside;
  return element;
};

const strips: [keyof Omit<Point, 'label' | 'open'>, string, (value: number) => string][] = [
  ['latency_s', 'latency', secondsText],
  ['energy_pj', 'energy', energyText],
  ['peak_bytes', 'memory', byteSize],
];

export function pointsChart(points: Point[]): HTMLElement {
  return h(
    'div',
    { class: 'points' },
    strips.map(([key, name, show]) => strip(points, key, name, show)),
  );
}

// From zero, so that heights compare as values do.
function strip(points: Point[], key: (typeof strips)[number][0], name: string, show: (value: number) => string): Node {
  const [width, height, top, bottom] = [320, 120, 30, 8];
  const most = Math.max(...points.map((p) => p[key]).filter(Number.isFinite), 0);
  const svg = shape('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': `${name} of what was tried` });
  const last = points[points.length - 1];
  const before = points[points.length - 2];
  const change = before && before[key] > 0 ? ` (${((100 * (last[key] - before[key])) / before[key]).toFixed(1)} %)` : '';
  svg.append(
    shape('text', { x: 4, y: 14, fill: 'currentColor', 'font-size': 12 }, `${name} ${last ? show(last[key]) + change : ''}`),
    shape('path', { d: `M4 ${height - bottom}H${width - 4}`, stroke: 'currentColor', opacity: 0.4 }),
  );
  if (most <= 0) return svg;
  const x = (k: number) => (points.length > 1 ? 10 + (k / (points.length - 1)) * (width - 20) : width / 2);
  const y = (p: Point) => height - bottom - (p[key] / most) * (height - top - bottom);
  svg.append(
    shape('polyline', { points: points.map((p, k) => `${x(k)},${y(p)}`).join(' '), stroke: '#1f6fb2', fill: 'none', opacity: 0.4 }),
  );
  points.forEach((p, k) => {
    const newest = k + 1 === points.length;
    const dot = shape('circle', { cx: x(k), cy: y(p), r: newest ? 5 : 4, stroke: '#1f6fb2', fill: newest ? '#1f6fb2' : 'white', cursor: 'pointer' });
    dot.append(shape('title', {}, `${p.label}: ${show(p[key])}`));
    dot.addEventListener('click', () => p.open());
    svg.append(dot);
  });
  return svg;
}
