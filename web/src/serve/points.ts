// What was tried last, latency against energy: the newest is filled, lines join them in their order.
import { energyText, secondsText } from '../base/units';

export interface Point {
  latency_s: number;
  energy_pj: number;
  label: string;
}

const shape = (name: string, attributes: Record<string, string | number>, inside = ''): SVGElement => {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  if (inside) element.textContent = inside;
  return element;
};

export function pointsChart(points: Point[]): SVGElement {
  const [width, height, edge] = [640, 220, 36];
  const svg = shape('svg', { viewBox: `0 0 ${width} ${height}`, class: 'points', role: 'img', 'aria-label': 'Latency and energy of what was tried' });
  const shown = points.filter((p) => p.latency_s > 0 && p.energy_pj > 0);
  if (shown.length === 0) return svg;
  const span = (values: number[]) => {
    const [low, high] = [Math.min(...values), Math.max(...values)];
    const room = high > low ? 0.08 * (high - low) : 0.1 * high;
    return { low: low - room, high: high + room };
  };
  const time = span(shown.map((p) => p.latency_s));
  const energy = span(shown.map((p) => p.energy_pj));
  const x = (p: Point) => edge + ((p.latency_s - time.low) / (time.high - time.low)) * (width - 2 * edge);
  const y = (p: Point) => height - edge - ((p.energy_pj - energy.low) / (energy.high - energy.low)) * (height - 2 * edge);
  svg.append(
    shape('path', { d: `M${edge} ${edge / 2}V${height - edge}H${width - edge}`, stroke: 'currentColor', fill: 'none', opacity: 0.5 }),
    shape('text', { x: width - edge, y: height - 8, 'text-anchor': 'end', fill: 'currentColor', 'font-size': 12 }, `latency, ${secondsText(time.low)} to ${secondsText(time.high)}`),
    shape('text', { x: 4, y: 14, fill: 'currentColor', 'font-size': 12 }, `energy, ${energyText(energy.low)} to ${energyText(energy.high)}`),
    shape('polyline', { points: shown.map((p) => `${x(p)},${y(p)}`).join(' '), stroke: '#1f6fb2', fill: 'none', opacity: 0.35 }),
  );
  shown.forEach((p, k) => {
    const dot = shape('circle', { cx: x(p), cy: y(p), r: 5, stroke: '#1f6fb2', fill: k + 1 === shown.length ? '#1f6fb2' : 'transparent' });
    dot.append(shape('title', {}, `${p.label}: ${secondsText(p.latency_s)}, ${energyText(p.energy_pj)}`));
    svg.append(dot);
  });
  return svg;
}
