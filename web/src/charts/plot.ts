// A uPlot chart in the page's colours, as wide as its place, drawn again when size or colours change.
import uPlot from 'uplot';
import { h } from '../base/dom';
import { colour, onRedraw } from '../base/theme';

export interface Plot {
  element: HTMLElement;
  chart(): uPlot | null;
  rebuild(): void;
}

export type Make = (width: number, height: number) => { options: uPlot.Options; data: uPlot.AlignedData };

export function plot(label: string, height: number, make: Make, made: (chart: uPlot) => void = () => undefined): Plot {
  const element = h('div', { class: 'plot', role: 'img', 'aria-label': label });
  let chart: uPlot | null = null;
  let width = 0;
  let waiting = 0;

  const build = () => {
    waiting = 0;
    width = element.clientWidth;
    if (width < 40) return;
    chart?.destroy();
    const { options, data } = make(width, height);
    chart = new uPlot(options, data, element);
    made(chart);
  };
  new ResizeObserver(() => {
    if (element.clientWidth === width) return;
    if (waiting === 0) waiting = requestAnimationFrame(build);
  }).observe(element);
  onRedraw(() => {
    if (!element.isConnected) return;
    if (chart && element.clientWidth === width) chart.redraw(false, true);
    else build();
  });
  return {
    element,
    chart: () => chart,
    rebuild: () => {
      if (element.isConnected) build();
    },
  };
}

const axisFont = '11px -apple-system, BlinkMacSystemFont, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';

export interface AxisOptions {
  label: string;
  ticks(low: number, high: number, count: number): number[];
  text(value: number): string;
}

export function axis(side: 'x' | 'y', options: AxisOptions): uPlot.Axis {
  const across = side === 'x';
  return {
    scale: side,
    side: across ? 2 : 3,
    label: options.label,
    labelSize: 20,
    labelFont: axisFont,
    font: axisFont,
    size: across ? 34 : 74,
    gap: 4,
    stroke: () => colour('quiet'),
    grid: { stroke: () => colour('grid'), width: 1 },
    ticks: { stroke: () => colour('grid'), width: 1, size: 4 },
    splits: (u, _axis, low, high) =>
      options.ticks(low, high, Math.max(2, Math.round((across ? u.width : u.height) / (across ? 110 : 55)))),
    values: (_u, splits) => splits.map((value) => options.text(value)),
    filter: (_u, splits) => splits,
  };
}
