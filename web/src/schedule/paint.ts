// Draws the tracks of a schedule in a window of time.
import { inkOn } from '../base/colours';
import { colour } from '../base/theme';
import { percent } from '../base/units';
import { mixed, Raster } from '../charts/raster';
import { fitted, setFont } from '../charts/surface';
import type { Span } from '../charts/view';
import { eventTitle, type Lane, type Schedule } from '../decode/schedule';
import type { Colouring } from './colouring';
import { visible } from './detail';
import { groupTitles, laneHeight, tracksOf, type Row } from './rows';

export interface Scene {
  schedule: Schedule;
  colouring: Colouring;
  rows: Row[];
  rowOfTrack: Map<number, Row>;
  hidden: Set<string>;
  span: Span;
  use: number[]; // by track: share of the step that it is busy
  gutter: number; // width of the names on the left
  scroll: number; // pixels above the window
  emphasis: Map<Lane, Lane> | null; // events to stress; all others are dimmed
  chain: number[]; // pinned event and what it waited for
  critical: boolean;
}

const levels = 4;
const raster = new Raster();

// The pixels of each colour by how much of a pixel events fill; all fainter where others are stressed.
function pixelsOf(palette: string[], strength: number): Uint32Array {
  const background = colour('track');
  return Uint32Array.from({ length: palette.length * levels }, (_, key) =>
    mixed(palette[Math.floor(key / levels)], background, strength * (0.4 + 0.2 * (key % levels))),
  );
}

// The number of bars drawn.
export function paint(context: CanvasRenderingContext2D, scene: Scene, width: number, height: number): number {
  const { schedule, rows, gutter, scroll } = scene;
  const palette = scene.colouring.entries.map((entry) => entry.colour());
  const inks = palette.map(inkOn);
  const faint = pixelsOf(palette, scene.emphasis ? 0.18 : 1);
  const full = scene.emphasis ? pixelsOf(palette, 1) : faint;
  const pale = pixelsOf(palette, scene.emphasis ? 0.08 : 0.35);
  const ratio = context.canvas.width / width;
  const track = mixed(colour('track'), colour('track'), 1);
  raster.begin(context.canvas.width, context.canvas.height);
  let bars = 0;
  const labels: { text: string; x: number; y: number; style: number }[] = [];
  const seen = rows.filter((row) => row.y + row.height > scroll && row.y < scroll + height);

  for (const row of seen) {
    if (row.track < 0) continue;
    const y = row.y - scroll;
    const { lanes } = schedule.tracks[row.track];
    raster.fill(gutter * ratio, (y + 1) * ratio, width * ratio, (y + row.height - 1) * ratio, track);
    const tall = laneHeight(lanes.length);
    lanes.forEach((lane, k) => {
      const top = y + 2 + k * tall;
      const draw = (pixels: Uint32Array, wanted: Lane, named: boolean) => {
        bars += visible(wanted, schedule, scene.span, width - gutter, (event, x, w, coverage) => {
          const style = scene.colouring.of[event];
          const pixel = pixels[style * levels + Math.min(levels - 1, Math.floor(coverage * levels))];
          // A gap between neighbours where there is room for one.
          const right = gutter + x + (w > 3 ? w - 0.75 : w);
          raster.fill((gutter + x) * ratio, top * ratio, right * ratio, (top + tall - 1) * ratio, pixel);
          // Where its operator is stalled, as much of a bar is pale.
          const stalled = row.group === 'core' ? scene.colouring.stalled[event] : 0;
          if (stalled > 0.02) {
            const down = top + stalled * (tall - 1);
            const palePixel = pale[style * levels + Math.min(levels - 1, Math.floor(coverage * levels))];
            raster.fill((gutter + x) * ratio, top * ratio, right * ratio, down * ratio, palePixel);
          }
          if (named && w > 34 && tall >= 12)
            labels.push({
              text: fitted(eventTitle(schedule, event), w - 8, 5.6),
              x: gutter + x + 4,
              y: top + tall / 2,
              style,
            });
        });
      };
      draw(faint, lane, scene.emphasis === null);
      const some = scene.emphasis?.get(lane);
      if (some) draw(full, some, true);
    });
  }
  raster.paint(context);
  setFont(context, 10.5);
  context.textBaseline = 'middle';
  for (const label of labels) {
    context.fillStyle = inks[label.style];
    context.fillText(label.text, label.x, label.y);
  }
  if (scene.critical) paintPath(context, scene, scene.schedule.critical, width, height, colour('critical'), 1.75);
  paintChain(context, scene, width, height);
  paintNames(context, scene, seen, width, height);
  return bars;
}

function boxOf(
  scene: Scene,
  event: number,
  width: number,
): { x: number; y: number; width: number; height: number } | null {
  const { schedule, span, gutter } = scene;
  const row = scene.rowOfTrack.get(schedule.track[event]);
  if (!row) return null;
  const scale = (width - gutter) / (span.to - span.from);
  const tall = laneHeight(schedule.tracks[row.track].lanes.length);
  const x = gutter + (schedule.start[event] - span.from) * scale;
  const w = Math.max(1.5, (schedule.end[event] - schedule.start[event]) * scale);
  return { x, y: row.y - scene.scroll + 2 + schedule.lane[event] * tall, width: w, height: tall - 1 };
}

// A line through events in order of time, one point for each pixel and row.
function paintPath(
  context: CanvasRenderingContext2D,
  scene: Scene,
  events: ArrayLike<number>,
  width: number,
  height: number,
  line: string,
  thickness: number,
): void {
  context.save();
  context.beginPath();
  context.rect(scene.gutter, 0, width - scene.gutter, height);
  context.clip();
  context.strokeStyle = line;
  context.lineWidth = thickness;
  context.beginPath();
  let last = { x: NaN, y: NaN };
  for (let i = 0; i < events.length; ++i) {
    const event = events[i];
    if (scene.schedule.end[event] < scene.span.from || scene.schedule.start[event] > scene.span.to) continue;
    const box = boxOf(scene, event, width);
    if (!box || (Math.abs(box.x - last.x) < 1 && box.y === last.y)) continue;
    const y = box.y + box.height - 1.5; // under the words
    if (Number.isNaN(last.x)) context.moveTo(box.x, y);
    else context.lineTo(box.x, y);
    context.lineTo(box.x + box.width, y);
    last = { x: box.x, y: box.y };
  }
  context.stroke();
  context.restore();
}

function paintChain(context: CanvasRenderingContext2D, scene: Scene, width: number, height: number): void {
  if (scene.chain.length === 0) return;
  paintPath(context, scene, [...scene.chain].reverse(), width, height, colour('text'), 1);
  context.save();
  context.beginPath();
  context.rect(scene.gutter, 0, width - scene.gutter, height);
  context.clip();
  scene.chain.forEach((event, k) => {
    const box = boxOf(scene, event, width);
    if (!box) return;
    context.strokeStyle = k === 0 ? colour('accent') : colour('text');
    context.lineWidth = k === 0 ? 2.5 : 1.5;
    context.strokeRect(box.x - 0.5, box.y - 0.5, box.width + 1, box.height + 1);
  });
  context.restore();
}

function paintNames(context: CanvasRenderingContext2D, scene: Scene, seen: Row[], width: number, height: number): void {
  const { gutter, schedule } = scene;
  context.fillStyle = colour('panel');
  context.fillRect(0, 0, gutter - 2, height);
  context.textBaseline = 'middle';
  for (const row of seen) {
    const middle = row.y - scene.scroll + row.height / 2;
    if (row.track < 0) {
      context.fillStyle = colour('heading');
      context.fillRect(0, row.y - scene.scroll, width, row.height - 2);
      context.fillStyle = colour('text');
      setFont(context, 11, 600);
      const folded = scene.hidden.has(row.group);
      context.fillText(`${folded ? '▸' : '▾'}  ${groupTitles[row.group]}`, 6, middle);
      setFont(context, 10.5);
      context.fillStyle = colour('quiet');
      const tracks = tracksOf(schedule, row.group);
      const used = tracks.filter((track) => schedule.tracks[track].events > 0).length;
      context.fillText(`${used} of ${tracks.length} in use`, gutter + 6, middle);
      continue;
    }
    const track = schedule.tracks[row.track];
    setFont(context, 11);
    context.fillStyle = colour('text');
    context.fillText(fitted(track.name, gutter - 50, 6), 6, middle);
    context.fillStyle = colour('quiet');
    context.textAlign = 'right';
    context.fillText(percent(scene.use[row.track], 0), gutter - 8, middle);
    context.textAlign = 'left';
  }
}
