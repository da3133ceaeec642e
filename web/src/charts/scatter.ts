// Points on two axes, linear or logarithmic: hover names the nearest, a click picks it, a drag selects.
import type uPlot from 'uplot';
import { colour } from '../base/theme';
import { type Child } from '../base/dom';
import { placeLabels } from './labels';
import { axis, plot, type Plot } from './plot';
import { around, linearTicks, logTicks } from './ticks';
import { setFont } from './surface';
import { hideTooltip, showTooltip } from './tooltip';

export interface ScatterAxis {
  label: string;
  log: boolean;
  text(value: number): string;
  ticks?(low: number, high: number, count: number): number[];
}

export interface Points {
  x: ArrayLike<number>;
  y: ArrayLike<number>;
  count: number;
  colour(index: number): string;
  size?(index: number): number; // radius in pixels
  strong?(index: number): boolean; // drawn over the others, with an outline
  shown?(index: number): boolean;
  name?(index: number): string; // written beside it, where there is room
}

export interface Overlay {
  context: CanvasRenderingContext2D;
  box: { left: number; top: number; width: number; height: number };
  x(value: number): number;
  y(value: number): number;
  ratio: number;
}

export interface Brush {
  x: [number, number];
  y: [number, number];
}

export interface ScatterOptions {
  label: string;
  height: number;
  state(): { x: ScatterAxis; y: ScatterAxis; points: Points; picked: number; include?: { x: number[]; y: number[] } }; // `include`: the axes must show these
  overlay?(overlay: Overlay): void;
  hover(index: number): Child;
  pick(index: number): void;
  brush?(range: Brush | null): void;
}

export interface Scatter {
  element: HTMLElement;
  redraw(): void; // colours, picked point
  rebuild(): void; // other axes or points
  clearBrush(): void;
}

export function scatter(options: ScatterOptions): Scatter {
  let placed: { x: Float64Array; y: Float64Array } = { x: new Float64Array(0), y: new Float64Array(0) };
  const made: Plot = plot(options.label, options.height, make, attach);

  function valid(value: number, log: boolean): boolean {
    return Number.isFinite(value) && (!log || value > 0);
  }

  function rangeOf(
    values: ArrayLike<number>,
    others: number[],
    log: boolean,
    shown: (index: number) => boolean,
  ): [number, number] {
    let low = Infinity;
    let high = -Infinity;
    const see = (value: number) => {
      if (!valid(value, log)) return;
      low = Math.min(low, value);
      high = Math.max(high, value);
    };
    for (let i = 0; i < values.length; ++i) if (shown(i)) see(values[i]);
    others.forEach(see);
    return around(low, high, log);
  }

  function make(width: number, height: number) {
    const { x, y, points, include } = options.state();
    const shown = points.shown ?? (() => true);
    const xRange = rangeOf(points.x, include?.x ?? [], x.log, shown);
    const yRange = rangeOf(points.y, include?.y ?? [], y.log, shown);
    const scale = (log: boolean, range: [number, number]): uPlot.Scale => ({
      time: false,
      distr: log ? 3 : 1,
      range: () => range,
    });
    const ticks = (a: ScatterAxis) => a.ticks ?? (a.log ? logTicks : linearTicks);
    const chart: uPlot.Options = {
      width,
      height,
      padding: [10, 16, 0, 0],
      legend: { show: false },
      scales: { x: scale(x.log, xRange), y: scale(y.log, yRange) },
      axes: [
        axis('x', { label: x.label, ticks: ticks(x), text: x.text }),
        axis('y', { label: y.label, ticks: ticks(y), text: y.text }),
      ],
      series: [{}, { scale: 'y', show: true, paths: () => null, points: { show: false } }],
      cursor: {
        x: false,
        y: false,
        points: { show: false },
        drag: { setScale: false, x: options.brush !== undefined, y: options.brush !== undefined },
      },
      hooks: { draw: [draw], setSelect: [selected] },
    };
    return { options: chart, data: [xRange, yRange] as unknown as uPlot.AlignedData };
  }

  function draw(u: uPlot): void {
    const { points, picked, x, y } = options.state();
    const { ctx } = u;
    const ratio = devicePixelRatio || 1;
    ctx.save();
    ctx.beginPath();
    ctx.rect(u.bbox.left - 8 * ratio, u.bbox.top - 8 * ratio, u.bbox.width + 16 * ratio, u.bbox.height + 16 * ratio);
    ctx.clip();
    options.overlay?.({
      context: ctx,
      box: u.bbox,
      x: (v) => u.valToPos(v, 'x', true),
      y: (v) => u.valToPos(v, 'y', true),
      ratio,
    });
    placed = { x: new Float64Array(points.count).fill(NaN), y: new Float64Array(points.count).fill(NaN) };
    const size = points.size ?? (() => 4);
    const groups = new Map<string, number[]>();
    const strong: number[] = [];
    for (let i = 0; i < points.count; ++i) {
      if (points.shown && !points.shown(i)) continue;
      if (!valid(points.x[i], x.log) || !valid(points.y[i], y.log)) continue;
      placed.x[i] = u.valToPos(points.x[i], 'x', true);
      placed.y[i] = u.valToPos(points.y[i], 'y', true);
      if (points.strong?.(i)) strong.push(i);
      else {
        const key = points.colour(i);
        const group = groups.get(key);
        if (group) group.push(i);
        else groups.set(key, [i]);
      }
    }
    ctx.globalAlpha = points.count > 1500 ? 0.55 : 0.8;
    for (const [key, group] of groups) {
      ctx.fillStyle = key;
      ctx.beginPath();
      for (const i of group) {
        ctx.moveTo(placed.x[i] + size(i) * ratio, placed.y[i]);
        ctx.arc(placed.x[i], placed.y[i], size(i) * ratio, 0, 7);
      }
      ctx.fill();
    }
    ctx.globalAlpha = 1;
    for (const i of strong)
      ring(ctx, placed.x[i], placed.y[i], size(i) * ratio, points.colour(i), colour('panel'), ratio * 1.5);
    if (picked >= 0 && placed.x[picked] >= 0) {
      ring(
        ctx,
        placed.x[picked],
        placed.y[picked],
        (size(picked) + 3) * ratio,
        points.colour(picked),
        colour('text'),
        ratio * 2.5,
      );
    }
    if (points.name) write(u, points.name, size);
    ctx.restore();
    made.element.dataset.points = String(
      strong.length + [...groups.values()].reduce((total, group) => total + group.length, 0),
    );
  }

  function write(u: uPlot, name: (index: number) => string, size: (index: number) => number): void {
    const { ctx, bbox } = u;
    const ratio = devicePixelRatio || 1;
    const indices = [...placed.x.keys()].filter((i) => Number.isFinite(placed.x[i]) && name(i) !== '');
    setFont(ctx, 11 * ratio);
    ctx.textAlign = 'left';
    ctx.textBaseline = 'middle';
    const labels = placeLabels(
      indices.map((i) => ({ x: placed.x[i], y: placed.y[i] })),
      indices.map((i) => ctx.measureText(name(i)).width + 4 * ratio),
      14 * ratio,
      Math.max(...indices.map(size), 0) * ratio,
      { left: bbox.left, top: bbox.top, right: bbox.left + bbox.width, bottom: bbox.top + bbox.height },
    );
    ctx.fillStyle = colour('text');
    ctx.lineJoin = 'round';
    labels.forEach((label, k) => {
      if (!label) return;
      const [x, y] = [placed.x[indices[k]], placed.y[indices[k]]];
      const width = ctx.measureText(name(indices[k])).width;
      if (label.line) {
        ctx.strokeStyle = colour('quiet');
        ctx.lineWidth = 0.75 * ratio;
        ctx.beginPath();
        ctx.moveTo(x, y);
        ctx.lineTo(
          Math.min(Math.max(x, label.x), label.x + width + 4 * ratio),
          label.y + Math.sign(y - label.y) * 6 * ratio,
        );
        ctx.stroke();
      }
      // Readable over lines.
      ctx.strokeStyle = colour('panel');
      ctx.lineWidth = 3 * ratio;
      ctx.strokeText(name(indices[k]), label.x + 2 * ratio, label.y);
      ctx.fillText(name(indices[k]), label.x + 2 * ratio, label.y);
    });
    made.element.dataset.names = String(labels.filter((label) => label !== null).length);
  }

  function ring(
    ctx: CanvasRenderingContext2D,
    x: number,
    y: number,
    radius: number,
    inside: string,
    line: string,
    width: number,
  ): void {
    ctx.beginPath();
    ctx.arc(x, y, radius, 0, 7);
    ctx.fillStyle = inside;
    ctx.fill();
    ctx.lineWidth = width;
    ctx.strokeStyle = line;
    ctx.stroke();
  }

  function nearest(u: uPlot, event: MouseEvent): number {
    const ratio = devicePixelRatio || 1;
    const box = u.over.getBoundingClientRect();
    const x = (event.clientX - box.left) * ratio + u.bbox.left;
    const y = (event.clientY - box.top) * ratio + u.bbox.top;
    let best = -1;
    let least = (14 * ratio) ** 2;
    for (let i = 0; i < placed.x.length; ++i) {
      const distance = (placed.x[i] - x) ** 2 + (placed.y[i] - y) ** 2;
      if (distance < least) {
        least = distance;
        best = i;
      }
    }
    return best;
  }

  function attach(u: uPlot): void {
    let down: { x: number; y: number } | null = null;
    u.over.addEventListener('mousemove', (event) => {
      const index = event.buttons === 0 ? nearest(u, event) : -1;
      u.over.style.cursor = index >= 0 ? 'pointer' : 'crosshair';
      if (index >= 0) showTooltip(event, options.hover(index));
      else hideTooltip();
    });
    u.over.addEventListener('mouseleave', hideTooltip);
    u.over.addEventListener('mousedown', (event) => (down = { x: event.clientX, y: event.clientY }));
    u.over.addEventListener('click', (event) => {
      if (down && Math.hypot(event.clientX - down.x, event.clientY - down.y) > 4) return;
      const index = nearest(u, event);
      if (index >= 0) options.pick(index);
      else options.brush?.(null);
    });
  }

  function selected(u: uPlot): void {
    const { left, top, width, height } = u.select;
    if (!options.brush || width < 4 || height < 4) return;
    options.brush({
      x: [u.posToVal(left, 'x'), u.posToVal(left + width, 'x')],
      y: [u.posToVal(top + height, 'y'), u.posToVal(top, 'y')],
    });
  }

  return {
    element: made.element,
    redraw: () => made.chart()?.redraw(false, false),
    rebuild: made.rebuild,
    clearBrush: () => made.chart()?.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false),
  };
}

// A dashed line across, with words at its end.
export function rule(overlay: Overlay, at: { x?: number; y?: number }, words: string): void {
  const { context, box, ratio } = overlay;
  context.save();
  context.strokeStyle = colour('quiet');
  context.fillStyle = colour('quiet');
  context.lineWidth = ratio;
  context.setLineDash([5 * ratio, 4 * ratio]);
  context.font = `${11 * ratio}px sans-serif`;
  context.beginPath();
  if (at.x !== undefined) {
    const x = overlay.x(at.x);
    context.moveTo(x, box.top);
    context.lineTo(x, box.top + box.height);
    context.stroke();
    const room = x < box.left + box.width - 80 * ratio;
    context.textAlign = room ? 'left' : 'right';
    context.fillText(words, x + (room ? 4 : -4) * ratio, box.top + 12 * ratio);
  } else if (at.y !== undefined) {
    const y = overlay.y(at.y);
    context.moveTo(box.left, y);
    context.lineTo(box.left + box.width, y);
    context.stroke();
    context.textAlign = 'right';
    context.fillText(words, box.left + box.width - 4 * ratio, y + (y < box.top + 16 * ratio ? 13 : -4) * ratio);
  }
  context.restore();
}
