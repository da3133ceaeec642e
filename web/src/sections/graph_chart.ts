// The picture of the graph: places come with the data; what is outside the window is left out, words appear when near.
import { inkOn, manyColour, namedColour } from '../base/colours';
import { colour } from '../base/theme';
import { byteSize } from '../base/units';
import { h } from '../base/dom';
import { setFont, shortened, surface } from '../charts/surface';
import { facts, hideTooltip, showTooltip } from '../charts/tooltip';
import { gestures } from '../charts/view';
import type { Graph, Tensor } from '../decode/graph';

const shapesFrom = 0.9; // of the scale: nearer, every edge says what flows along it

export type GraphMode = 'phase' | 'stack' | 'operator';

export interface GraphChart {
  canvas: HTMLCanvasElement;
  fit(): void;
  zoomBy(scale: number): void;
  colourBy(mode: GraphMode): { name: string; colour: string }[]; // what colours mean, where they are few
  showSaved(on: boolean): void;
  search(text: string): number;
  next(): void;
  show(node: number): void;
}

// Pixels of one unit of the data at scale 1, and of a node.
const unit = { x: 190, y: 46 };
const box = { width: 174, height: 30 };

interface Frame {
  stack: number;
  left: number;
  top: number;
  right: number;
  bottom: number;
  nodes: number;
}

export function graphChart(graph: Graph, picked: (node: number) => void): GraphChart {
  const x = Float64Array.from(graph.x, (value) => value * unit.x);
  const y = Float64Array.from(graph.y, (value) => value * unit.y);
  const bounds = boundsOf(x, y);
  const frames = framesOf(graph, x, y);
  const types = [...new Set(graph.operator)].sort();
  let scale = 0; // 0: not yet placed
  let left = 0; // of the window, in pixels at scale 1
  let top = 0;
  let mode: GraphMode = 'phase';
  let saved = true;
  let matches: Uint8Array | null = null;
  let pick = -1;
  let found = -1;

  const paintOf = (node: number) =>
    mode === 'stack'
      ? manyColour(graph.stack[node])
      : mode === 'operator'
        ? namedColour(`type ${graph.operator[node]}`, types.indexOf(graph.operator[node]))
        : namedColour(graph.phase[node], 11);

  const picture = surface({
    height: 600,
    label: `The training graph: ${graph.count} nodes, ${graph.tensors.length} tensors`,
    focusable: true,
    draw: (context, width, height) => {
      if (scale === 0) begin(width);
      context.fillStyle = colour('track');
      context.fillRect(0, 0, width, height);
      const seen = {
        left: left - box.width,
        right: left + width / scale + box.width,
        top: top - box.height,
        bottom: top + height / scale + box.height,
      };
      context.save();
      context.scale(scale, scale);
      context.translate(-left, -top);
      paintFrames(context, seen);
      paintEdges(context, seen);
      picture.canvas.dataset.nodes = String(paintNodes(context, seen));
      context.restore();
      picture.canvas.dataset.scale = String(scale);
    },
  });

  // At first: as wide as the window where that can be read, from the top.
  function begin(width: number): void {
    scale = Math.min(1, Math.max(0.55, width / (bounds.right - bounds.left + 60)));
    left = bounds.left - 30 + Math.min(0, (bounds.right - bounds.left + 60 - width / scale) / 2);
    top = bounds.top - 30;
  }

  function paintFrames(context: CanvasRenderingContext2D, seen: Omit<Frame, 'stack' | 'nodes'>): void {
    for (const frame of frames) {
      if (frame.right < seen.left || frame.left > seen.right || frame.bottom < seen.top || frame.top > seen.bottom)
        continue;
      context.globalAlpha = 0.16;
      context.fillStyle = context.strokeStyle = manyColour(frame.stack);
      context.fillRect(frame.left, frame.top, frame.right - frame.left, frame.bottom - frame.top);
      context.globalAlpha = 0.8;
      context.lineWidth = 1.25 / Math.min(1, scale * 1.5);
      context.strokeRect(frame.left, frame.top, frame.right - frame.left, frame.bottom - frame.top);
    }
    context.globalAlpha = 1;
  }

  function paintEdges(context: CanvasRenderingContext2D, seen: Omit<Frame, 'stack' | 'nodes'>): void {
    const thin = Math.max(0.8, 0.7 / scale);
    for (const tensor of graph.tensors) {
      if (tensor.from < 0) continue;
      const touched = pick >= 0 && (tensor.from === pick || tensor.to.includes(pick));
      for (const to of tensor.to) {
        const decision = decisionOf(graph, tensor, to);
        const strong = saved && decision !== '';
        context.strokeStyle = touched ? colour('accent') : strong ? namedColour(decision) : colour('edge');
        context.lineWidth = touched ? thin * 2.5 : strong ? thin * 1.8 : thin;
        context.globalAlpha = touched ? 1 : matches ? 0.15 : strong ? 0.85 : 0.7;
        const x0 = x[tensor.from];
        const y0 = y[tensor.from];
        const x1 = x[to];
        const y1 = y[to];
        if (
          Math.max(x0, x1) < seen.left ||
          Math.min(x0, x1) > seen.right ||
          Math.max(y0, y1) < seen.top ||
          Math.min(y0, y1) > seen.bottom
        )
          continue;
        context.beginPath();
        context.moveTo(x0, y0);
        if (Math.abs(x1 - x0) < 1 && Math.abs(y1 - y0) > unit.y * 1.5) {
          // A way around the nodes between them.
          const out = x0 - Math.min(box.width * 0.62, box.width / 2 + 4 + Math.abs(y1 - y0) * 0.03);
          context.bezierCurveTo(out, y0, out, y1, x1, y1);
        } else if (Math.abs(x1 - x0) > 1 && Math.abs(y1 - y0) > 1) {
          const middle = (x0 + x1) / 2;
          context.bezierCurveTo(middle, y0, middle, y1, x1, y1);
        } else context.lineTo(x1, y1);
        context.stroke();
        if (scale > shapesFrom || (touched && scale > 0.3)) paintShape(context, tensor.shape, (x0 + x1) / 2, (y0 + y1) / 2);
      }
    }
    context.globalAlpha = 1;
  }

  function paintShape(context: CanvasRenderingContext2D, shape: string, px: number, py: number): void {
    if (shape === '') return;
    const letter = 10.5 / scale;
    setFont(context, letter);
    context.textBaseline = 'middle';
    context.textAlign = 'center';
    context.globalAlpha = 1;
    const width = context.measureText(shape).width;
    context.fillStyle = colour('background');
    context.fillRect(px - width / 2 - letter * 0.2, py - letter * 0.6, width + letter * 0.4, letter * 1.2);
    context.fillStyle = colour('quiet');
    context.fillText(shape, px, py);
    context.textAlign = 'left';
  }

  function paintNodes(context: CanvasRenderingContext2D, seen: Omit<Frame, 'stack' | 'nodes'>): number {
    let drawn = 0;
    // Words keep a size that can be read as long as they fit their node.
    const named = scale > 0.38;
    // Nearer, more of a name fits: words stay as large on the screen, and so get smaller against their box.
    const letter = Math.max(Math.min(11.5, 13 / scale), 10 / scale);
    setFont(context, letter);
    context.textBaseline = 'middle';
    for (let node = 0; node < graph.count; ++node) {
      if (x[node] < seen.left || x[node] > seen.right || y[node] < seen.top || y[node] > seen.bottom) continue;
      ++drawn;
      const paint = paintOf(node);
      const view = graph.stack[node] < 0;
      const l = x[node] - box.width / 2;
      const t = y[node] - box.height / 2;
      const dimmed = matches !== null && matches[node] === 0;
      context.globalAlpha = 1;
      if (dimmed || view) {
        context.fillStyle = colour('track'); // what lies under it does not shine through
        context.fillRect(l, t, box.width, box.height);
      }
      context.globalAlpha = dimmed ? 0.18 : view ? 0.5 : 1;
      context.fillStyle = paint;
      if (scale > 0.3) {
        context.beginPath();
        context.roundRect?.(l, t, box.width, box.height, 6);
        context.fill();
      } else context.fillRect(l, t, box.width, box.height);
      if (graph.recomputed[node]) {
        context.strokeStyle = colour('text');
        context.lineWidth = 1.5 / Math.min(1, scale);
        context.setLineDash([5, 3]);
        context.strokeRect(l, t, box.width, box.height);
        context.setLineDash([]);
      }
      if (node === pick) {
        context.strokeStyle = colour('text');
        context.lineWidth = 3 / Math.min(1, scale);
        context.strokeRect(l - 2, t - 2, box.width + 4, box.height + 4);
      }
      if (named) {
        context.globalAlpha = dimmed ? 0.6 : 1;
        context.fillStyle = dimmed ? colour('quiet') : view ? colour('text') : inkOn(paint);
        context.fillText(shortened(graph.name[node], box.width - 10, letter * 0.61), l + 6, y[node]);
      }
    }
    context.globalAlpha = 1;
    return drawn;
  }

  const place = (px: number, py: number) => ({ x: left + px / scale, y: top + py / scale });
  const nodeAt = (px: number, py: number): number => {
    const at = place(px, py);
    const slack = 4 / scale;
    for (let node = graph.count - 1; node >= 0; --node) {
      if (Math.abs(x[node] - at.x) <= box.width / 2 + slack && Math.abs(y[node] - at.y) <= box.height / 2 + slack)
        return node;
    }
    return -1;
  };
  const zoomAt = (by: number, px: number, py: number) => {
    const at = place(px, py);
    scale = Math.min(4, Math.max(least(), scale * by));
    left = at.x - px / scale;
    top = at.y - py / scale;
    picture.redraw();
  };
  const least = () =>
    0.8 *
    Math.min(
      picture.width() / (bounds.right - bounds.left + 60),
      picture.height() / (bounds.bottom - bounds.top + 60),
      1,
    );
  const fit = () => {
    scale = least() / 0.8;
    left = (bounds.left + bounds.right) / 2 - picture.width() / scale / 2;
    top = (bounds.top + bounds.bottom) / 2 - picture.height() / scale / 2;
    picture.redraw();
  };
  const pan = (dx: number, dy: number) => {
    left -= dx / scale;
    top -= dy / scale;
    picture.redraw();
  };
  const choose = (node: number) => {
    pick = node;
    picked(node);
    picture.redraw();
  };
  const show = (node: number) => {
    scale = Math.max(scale, 0.7);
    left = x[node] - picture.width() / scale / 2;
    top = y[node] - picture.height() / scale / 2;
    choose(node);
  };
  const next = () => {
    if (!matches) return;
    for (let k = 1; k <= graph.count; ++k) {
      const node = (found + k) % graph.count;
      if (matches[node] === 1) {
        found = node;
        show(node);
        return;
      }
    }
  };

  gestures(picture.canvas, {
    zoom: (by, px, py) => zoomAt(1 / by, px, py),
    pan,
    click: (px, py) => choose(nodeAt(px, py)),
    hover: (px, py, event) => {
      const node = nodeAt(px, py);
      picture.canvas.style.cursor = node >= 0 ? 'pointer' : 'grab';
      if (node < 0) return hideTooltip();
      const bytes = graph.made[node].reduce((total, index) => total + graph.tensors[index].bytes, 0);
      const decisions = [
        ...new Set(graph.made[node].map((index) => graph.tensors[index].decision).filter(Boolean)),
      ].join(', ');
      showTooltip(
        event,
        h('strong', null, graph.name[node]),
        facts([
          ['type', graph.operator[node]],
          ['phase', graph.phase[node]],
          ['stack', graph.stack[node] >= 0 ? graph.stack[node] : 'none: a view'],
          ['makes', byteSize(bytes)],
          ['saved', decisions],
        ]),
      );
    },
    leave: hideTooltip,
    key: (key) => {
      const step = 60;
      if (key === '+' || key === '=') zoomAt(1.3, picture.width() / 2, picture.height() / 2);
      else if (key === '-') zoomAt(1 / 1.3, picture.width() / 2, picture.height() / 2);
      else if (key === '0' || key === 'f') fit();
      else if (key === 'ArrowLeft') pan(step, 0);
      else if (key === 'ArrowRight') pan(-step, 0);
      else if (key === 'ArrowUp') pan(0, step);
      else if (key === 'ArrowDown') pan(0, -step);
      else if (key === 'Escape') choose(-1);
      else if (key === 'n' && matches) next();
      else return false;
      return true;
    },
  });

  return {
    canvas: picture.canvas,
    fit,
    zoomBy: (by) => zoomAt(by, picture.width() / 2, picture.height() / 2),
    colourBy: (next_) => {
      mode = next_;
      picture.redraw();
      const phases = [...new Set(graph.phase)].filter(Boolean);
      const meaning = (words: string[], of: string[]) =>
        words.map((name) => ({ name, colour: paintOf(of.indexOf(name)) }));
      return mode === 'phase'
        ? meaning(phases, graph.phase)
        : mode === 'operator' && types.length <= 30
          ? meaning(types, graph.operator)
          : [];
    },
    showSaved: (on) => {
      saved = on;
      picture.redraw();
    },
    search: (text) => {
      const word = text.trim().toLowerCase();
      found = -1;
      matches =
        word === '' ? null : Uint8Array.from(graph.name, (name, node) => (mentions(graph, node, name, word) ? 1 : 0));
      picture.redraw();
      return matches ? matches.reduce((total, one) => total + one, 0) : 0;
    },
    next,
    show,
  };
}

// What was decided about what an edge carries: of a saved tensor where it leaves the forward part, or of a copy where
// it reaches its reader.
function decisionOf(graph: Graph, tensor: Tensor, to: number): string {
  if (graph.recomputed[tensor.from] && !graph.recomputed[to]) return 'recomputed';
  return tensor.saved && graph.phase[to] !== graph.phase[tensor.from] ? tensor.decision : '';
}

function mentions(graph: Graph, node: number, name: string, word: string): boolean {
  return (
    name.toLowerCase().includes(word) ||
    graph.operator[node].toLowerCase().includes(word) ||
    graph.made[node].some((index) => graph.tensors[index].name.toLowerCase().includes(word))
  );
}

function boundsOf(x: Float64Array, y: Float64Array): Omit<Frame, 'stack' | 'nodes'> {
  const low = (values: Float64Array) => values.reduce((a, b) => Math.min(a, b), Infinity);
  const high = (values: Float64Array) => values.reduce((a, b) => Math.max(a, b), -Infinity);
  if (x.length === 0) return { left: 0, right: 100, top: 0, bottom: 100 };
  return {
    left: low(x) - box.width / 2,
    right: high(x) + box.width / 2,
    top: low(y) - box.height / 2,
    bottom: high(y) + box.height / 2,
  };
}

// Around the nodes of each stack of more than one.
function framesOf(graph: Graph, x: Float64Array, y: Float64Array): Frame[] {
  const frames = new Map<number, Frame>();
  const room = 6;
  for (let node = 0; node < graph.count; ++node) {
    const stack = graph.stack[node];
    if (stack < 0) continue;
    const frame = frames.get(stack) ?? {
      stack,
      left: Infinity,
      top: Infinity,
      right: -Infinity,
      bottom: -Infinity,
      nodes: 0,
    };
    frame.left = Math.min(frame.left, x[node] - box.width / 2 - room);
    frame.right = Math.max(frame.right, x[node] + box.width / 2 + room);
    frame.top = Math.min(frame.top, y[node] - box.height / 2 - room);
    frame.bottom = Math.max(frame.bottom, y[node] + box.height / 2 + room);
    ++frame.nodes;
    frames.set(stack, frame);
  }
  return [...frames.values()].filter((frame) => frame.nodes > 1);
}
