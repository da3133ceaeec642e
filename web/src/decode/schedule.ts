// The columns of a schedule as typed arrays, and the events of each lane of each track in order of time.
import type { ScheduleData } from '../data';
import { column, indices, Missing, object, objects, number, text, texts } from '../base/read';

export interface Lane {
  events: Int32Array; // by start; they do not overlap
  busy: Float64Array; // cycles before the k-th event of the lane; one entry more than events
}

export interface Track {
  name: string;
  kind: ScheduleData['tracks'][number]['kind'];
  lanes: Lane[];
  events: number;
  busy: number; // cycles of events, of all lanes
}

export interface Schedule {
  count: number;
  tracks: Track[];
  names: string[];
  kinds: string[];
  causes: string[];
  start: Float64Array; // cycles
  end: Float64Array;
  name: Int32Array;
  part: Int32Array;
  kind: Int32Array;
  cause: Int32Array;
  node: Int32Array;
  from: Int32Array;
  bytes: Float64Array;
  track: Int32Array;
  lane: Int32Array;
  critical: Int32Array;
  isCritical: Uint8Array;
}

export function decodeSchedule(data: unknown, operators: number): Schedule {
  if (data === undefined || data === null)
    throw new Missing('This result has no schedule: it was made from result.json alone.');
  const raw = object(data);
  if (!Array.isArray(raw.start)) throw new Missing('The schedule has no column “start”.');
  const count = raw.start.length;
  const tick = number(raw.tick, 1) || 1;
  const tracks = objects(raw.tracks, (t) => ({
    name: text(t.name, '?'),
    kind: (['core', 'link', 'port'].includes(text(t.kind)) ? t.kind : 'other') as Track['kind'],
    events: Math.max(0, Math.trunc(number(t.events, 0))),
  }));
  const counted = tracks.reduce((total, track) => total + track.events, 0);
  if (counted !== count) throw new Missing(`The tracks of the schedule have ${counted} events, its columns ${count}.`);

  const names = texts(raw.names);
  const kinds = texts(raw.kinds);
  const causes = texts(raw.causes);
  const lengths = column(raw.length, count, 'length');
  const steps = column(raw.start, count, 'start');
  const laneOf = column(raw.lane, count, 'lane');
  const schedule: Schedule = {
    count,
    tracks: [],
    names,
    kinds,
    causes,
    start: new Float64Array(count),
    end: new Float64Array(count),
    name: indices(raw.name, count, 'name', names.length),
    part: indices(raw.part, count, 'part', 2 ** 31),
    kind: indices(raw.kind, count, 'kind', kinds.length),
    cause: indices(raw.cause, count, 'cause', causes.length),
    node: indices(raw.node, count, 'node', operators),
    from: indices(raw.from, count, 'from', count),
    bytes: column(raw.bytes, count, 'bytes'),
    track: new Int32Array(count),
    lane: new Int32Array(count),
    critical: new Int32Array(0),
    isCritical: new Uint8Array(count),
  };

  let event = 0;
  tracks.forEach((track, index) => {
    const lanes: number[][] = [];
    let at = 0;
    for (let k = 0; k < track.events; ++k, ++event) {
      at += number(steps[event], 0);
      schedule.start[event] = at * tick;
      schedule.end[event] = (at + Math.max(0, number(lengths[event], 0))) * tick;
      schedule.track[event] = index;
      const lane = Math.min(Math.max(0, Math.trunc(number(laneOf[event], 0))), 63);
      schedule.lane[event] = lane;
      while (lanes.length <= lane) lanes.push([]);
      lanes[lane].push(event);
    }
    const made = lanes.map((events) => makeLane(Int32Array.from(events), schedule));
    const busy = made.reduce((total, lane) => total + lane.busy[lane.events.length], 0);
    schedule.tracks.push({ name: track.name, kind: track.kind, lanes: made, events: track.events, busy });
  });

  const critical = Array.isArray(raw.critical)
    ? raw.critical.filter((e) => Number.isInteger(e) && e >= 0 && e < count)
    : [];
  schedule.critical = Int32Array.from(critical as number[]);
  for (const e of schedule.critical) schedule.isCritical[e] = 1;
  return schedule;
}

function makeLane(events: Int32Array, schedule: Schedule): Lane {
  const { start, end } = schedule;
  let sorted = true;
  for (let k = 1; k < events.length && sorted; ++k) sorted = start[events[k]] >= start[events[k - 1]];
  if (!sorted) events.sort((a, b) => start[a] - start[b]);
  const busy = new Float64Array(events.length + 1);
  for (let k = 0; k < events.length; ++k) busy[k + 1] = busy[k] + (end[events[k]] - start[events[k]]);
  return { events, busy };
}

// Events whose results `event` used, one after another, the nearest first.
export function chainOf(schedule: Schedule, event: number, most = 200): number[] {
  const chain: number[] = [];
  const seen = new Set<number>([event]);
  for (let e = schedule.from[event]; e >= 0 && !seen.has(e) && chain.length < most; e = schedule.from[e]) {
    seen.add(e);
    chain.push(e);
  }
  return chain;
}

export function usersOf(schedule: Schedule, event: number, most = 50): number[] {
  const users: number[] = [];
  for (let e = 0; e < schedule.count && users.length < most; ++e) if (schedule.from[e] === event) users.push(e);
  return users;
}

export function eventTitle(schedule: Schedule, event: number): string {
  const name = schedule.names[schedule.name[event]] ?? '?';
  const kind = schedule.kinds[schedule.kind[event]] ?? '';
  if (schedule.tracks[schedule.track[event]].kind !== 'core') return `${kind} ${name}`;
  return schedule.part[event] >= 0 ? `${name} [${schedule.part[event]}]` : name;
}
