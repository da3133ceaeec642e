// Which tracks are shown, and at what height: groups with a heading, tracks with their lanes under each other.
import type { Schedule, Track } from '../decode/schedule';

export type Group = Track['kind'];

export interface Row {
  y: number;
  height: number;
  group: Group;
  track: number; // -1: heading of the group
}

export interface RowOptions {
  hidden: Set<Group>; // groups that are folded
  idle: boolean; // show tracks without events
}

export const groupTitles: Record<Group, string> = {
  core: 'Cores',
  link: 'Links and buses',
  port: 'Memory ports',
  other: 'Others',
};
export const groups: Group[] = ['core', 'link', 'port', 'other'];

export const headingHeight = 22;
const oneLane = 18;

export function laneHeight(lanes: number): number {
  return lanes <= 1 ? oneLane : lanes <= 3 ? 13 : lanes <= 8 ? 9 : 5;
}

export function rowsOf(schedule: Schedule, options: RowOptions): { rows: Row[]; height: number } {
  const rows: Row[] = [];
  let y = 0;
  for (const group of groups) {
    const tracks = tracksOf(schedule, group);
    if (tracks.length === 0) continue;
    rows.push({ y, height: headingHeight, group, track: -1 });
    y += headingHeight;
    if (options.hidden.has(group)) continue;
    for (const track of tracks) {
      const { lanes, events } = schedule.tracks[track];
      if (events === 0 && !options.idle) continue;
      const height = Math.max(1, lanes.length) * laneHeight(lanes.length) + 4;
      rows.push({ y, height, group, track });
      y += height;
    }
  }
  return { rows, height: y };
}

export function tracksOf(schedule: Schedule, group: Group): number[] {
  return schedule.tracks.map((_, index) => index).filter((index) => schedule.tracks[index].kind === group);
}

export function rowAt(rows: Row[], y: number): Row | null {
  return rows.find((row) => y >= row.y && y < row.y + row.height) ?? null;
}

export function laneAt(row: Row, lanes: number, y: number): number {
  return Math.min(Math.max(Math.floor((y - row.y - 2) / laneHeight(lanes)), 0), Math.max(0, lanes - 1));
}
