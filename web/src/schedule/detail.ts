// Level of detail: what of a lane is drawn in a window so many pixels wide. Events narrower than a pixel that begin in
// the same one become one bar with the share of the pixel that they fill: at most two bars a pixel, found by bisection.
import type { Lane, Schedule } from '../decode/schedule';
import type { Span } from '../charts/view';

export type Emit = (event: number, x: number, width: number, coverage: number, events: number) => void;

type Times = Pick<Schedule, 'start' | 'end'>;

export function visible(lane: Lane, times: Times, span: Span, width: number, emit: Emit): number {
  const { events, busy } = lane;
  const { start, end } = times;
  const scale = width / (span.to - span.from);
  let drawn = 0;
  let k = firstEndingAfter(lane, times, span.from);
  while (k < events.length) {
    const event = events[k];
    if (start[event] >= span.to) break;
    const left = Math.max(0, (start[event] - span.from) * scale);
    const right = Math.min(width, (end[event] - span.from) * scale);
    ++drawn;
    if (right - left >= 1) {
      emit(event, left, right - left, 1, 1);
      ++k;
      continue;
    }
    const pixel = Math.floor(left);
    let next = Math.max(k + 1, firstStartingAt(lane, times, span.from + (pixel + 1) / scale, k + 1));
    const last = events[next - 1];
    if (next - 1 > k && (end[last] - start[last]) * scale >= 1) --next;
    emit(events[(k + next) >> 1], pixel, 1, Math.min(1, (busy[next] - busy[k]) * scale), next - k);
    k = next;
  }
  return drawn;
}

// The event of a lane at a time, or the nearest within `slack`; -1 where there is none.
export function eventAt(lane: Lane, times: Times, time: number, slack: number): number {
  const { events } = lane;
  const next = firstStartingAt(lane, times, time, 0);
  let best = -1;
  let least = slack;
  for (let k = Math.max(0, next - 1); k < Math.min(events.length, next + 1); ++k) {
    const event = events[k];
    const distance = Math.max(times.start[event] - time, time - times.end[event], 0);
    if (distance <= least) {
      least = distance;
      best = event;
    }
  }
  return best;
}

// The lane with some of its events only.
export function subset(lane: Lane, times: Times, keep: (event: number) => boolean): Lane {
  const events = lane.events.filter(keep);
  const busy = new Float64Array(events.length + 1);
  for (let k = 0; k < events.length; ++k) busy[k + 1] = busy[k] + (times.end[events[k]] - times.start[events[k]]);
  return { events, busy };
}

function firstStartingAt(lane: Lane, times: Times, time: number, from: number): number {
  let low = from;
  let high = lane.events.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times.start[lane.events[middle]] >= time) high = middle;
    else low = middle + 1;
  }
  return low;
}

function firstEndingAfter(lane: Lane, times: Times, time: number): number {
  const next = firstStartingAt(lane, times, time, 0);
  return next > 0 && times.end[lane.events[next - 1]] > time ? next - 1 : next;
}
