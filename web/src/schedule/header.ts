// Over the tracks: how busy the cores are over the whole step with the window in it, the phases, and a time axis.
import { inkOn, namedColour } from '../base/colours';
import { colour } from '../base/theme';
import { cyclesText, timeMarks, type Clock } from '../base/units';
import type { ResultData } from '../data';
import { setFont } from '../charts/surface';
import { linearTicks } from '../charts/ticks';
import type { Span } from '../charts/view';
import type { Schedule } from '../decode/schedule';
import { visible } from './detail';

export const overviewHeight = 34;
export const phaseTop = overviewHeight + 8;
const phaseHeight = 12;
export const headerHeight = phaseTop + 3 * phaseHeight + 24;

// Share of the cores at work, by pixel.
export function activity(schedule: Schedule, total: number, width: number): Float64Array {
  const result = new Float64Array(Math.max(1, Math.floor(width)));
  const cores = schedule.tracks.filter((track) => track.kind === 'core' && track.events > 0);
  for (const track of cores) {
    for (const lane of track.lanes) {
      visible(lane, schedule, { from: 0, to: total }, result.length, (_event, x, w, coverage) => {
        for (let p = Math.floor(x); p < Math.min(result.length, x + w); ++p) {
          result[p] += coverage * Math.min(1, Math.min(p + 1, x + w) - Math.max(p, x));
        }
      });
    }
  }
  if (cores.length > 0) for (let p = 0; p < result.length; ++p) result[p] = Math.min(1, result[p] / cores.length);
  return result;
}

export interface HeaderScene {
  busy: Float64Array;
  phases: ResultData['phases'];
  span: Span;
  total: number;
  gutter: number;
  clock: Clock;
  selection: [number, number] | null; // pixels
}

export function paintHeader(
  context: CanvasRenderingContext2D,
  scene: HeaderScene,
  width: number,
  height: number,
): void {
  const { gutter, span, total, busy } = scene;
  const wide = width - gutter;
  setFont(context, 10.5);
  context.textBaseline = 'middle';
  context.fillStyle = colour('quiet');
  context.fillText('cores busy', 6, overviewHeight / 2);
  context.fillStyle = colour('track');
  context.fillRect(gutter, 0, wide, overviewHeight);
  context.fillStyle = colour('c-blue');
  context.globalAlpha = 0.55;
  context.beginPath();
  context.moveTo(gutter, overviewHeight);
  for (let p = 0; p < busy.length; ++p) context.lineTo(gutter + p, overviewHeight - busy[p] * (overviewHeight - 3));
  context.lineTo(gutter + busy.length, overviewHeight);
  context.fill();
  context.globalAlpha = 1;
  const left = gutter + (span.from / total) * wide;
  const right = gutter + (span.to / total) * wide;
  context.fillStyle = colour('veil');
  context.fillRect(gutter, 0, left - gutter, overviewHeight);
  context.fillRect(right, 0, gutter + wide - right, overviewHeight);
  context.strokeStyle = colour('accent');
  context.lineWidth = 1.5;
  context.strokeRect(left + 0.75, 0.75, Math.max(2, right - left - 1.5), overviewHeight - 1.5);

  const at = (time: number) => gutter + ((time - span.from) / (span.to - span.from)) * wide;
  paintPhases(context, scene, at, width);
  paintAxis(context, scene, at, width, height);
  if (scene.selection) {
    const [from, to] = scene.selection;
    context.fillStyle = colour('select');
    context.fillRect(Math.min(from, to), overviewHeight, Math.abs(to - from), height - overviewHeight);
  }
}

function paintPhases(
  context: CanvasRenderingContext2D,
  scene: HeaderScene,
  at: (time: number) => number,
  width: number,
): void {
  scene.phases.slice(0, 3).forEach((phase, k) => {
    const y = phaseTop + k * phaseHeight;
    context.fillStyle = colour('quiet');
    context.fillText(phase.phase, 6, y + phaseHeight / 2);
    const left = Math.max(scene.gutter, at(phase.start));
    const right = Math.min(width, at(phase.end));
    if (!(right > left)) return;
    const paint = namedColour(phase.phase, k);
    context.fillStyle = paint;
    context.fillRect(left, y + 1, right - left, phaseHeight - 2);
    if (right - left > 150) {
      context.fillStyle = inkOn(paint);
      setFont(context, 9.5);
      context.fillText(
        `${scene.clock.text(phase.start)} – ${scene.clock.text(phase.end)}`,
        left + 5,
        y + phaseHeight / 2 + 0.5,
      );
      setFont(context, 10.5);
    }
  });
}

function paintAxis(
  context: CanvasRenderingContext2D,
  scene: HeaderScene,
  at: (time: number) => number,
  width: number,
  height: number,
): void {
  const { clock, span, gutter } = scene;
  const unit = clock.hertz ?? 1;
  const ticks = linearTicks(span.from / unit, span.to / unit, Math.max(2, (width - gutter) / 110));
  context.fillStyle = colour('quiet');
  context.strokeStyle = colour('line');
  context.lineWidth = 1;
  context.textAlign = 'center';
  const marks = clock.hertz === null ? ticks.map(cyclesText) : timeMarks(ticks);
  ticks.forEach((tick, k) => {
    const x = at(tick * unit);
    if (x < gutter - 1 || x > width) return;
    context.beginPath();
    context.moveTo(x, height - 6);
    context.lineTo(x, height);
    context.stroke();
    if (x > gutter + 14 && x < width - 24) context.fillText(marks[k], x, height - 13);
  });
  context.textAlign = 'left';
  if (clock.hertz === null) context.fillText('cycles', 6, height - 13);
}
