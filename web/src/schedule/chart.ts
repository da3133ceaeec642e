// The schedule as a chart that is zoomed, moved, searched and clicked.
import { h } from '../base/dom';
import { gestures, clamped, moved, zoomed, type Span } from '../charts/view';
import { surface } from '../charts/surface';
import { hideTooltip, showTooltip } from '../charts/tooltip';
import type { Clock } from '../base/units';
import type { ResultData } from '../data';
import { chainOf, type Lane, type Schedule } from '../decode/schedule';
import { colouring, type Colouring, type Mode } from './colouring';
import { describe } from './describe';
import { eventAt, subset } from './detail';
import { activity, headerHeight, overviewHeight, paintHeader } from './header';
import { paint } from './paint';
import { laneAt, rowAt, rowsOf, type Group, type Row } from './rows';

export interface ScheduleChart {
  element: HTMLElement;
  fit(): void;
  zoomBy(scale: number): void;
  colourBy(mode: Mode): Colouring;
  showIdle(on: boolean): void;
  showCritical(on: boolean): void;
  fold(group: Group, on: boolean): void;
  search(text: string): number; // how many operators match
  next(): void; // to the next match
  pin(event: number): void; // -1: none
  show(event: number): void; // pin it, and bring it into view
}

const mostHeight = 560;

export function scheduleChart(
  schedule: Schedule,
  result: ResultData,
  total: number,
  clock: Clock,
  pinned: (event: number) => void,
  folded: (group: Group, on: boolean) => void,
): ScheduleChart {
  let span: Span = { from: 0, to: total };
  let colours = colouring(schedule, result.operators, 'stack');
  let layout = { rows: [] as Row[], height: 0 };
  let rowOfTrack = new Map<number, Row>();
  const hidden = new Set<Group>();
  let idle = false;
  let critical = false;
  let matches: Uint8Array | null = null; // by name
  let found = -1;
  let emphasis: Map<Lane, Lane> | null = null;
  let chain: number[] = [];
  let busy: Float64Array = new Float64Array(0);
  let selection: [number, number] | null = null;
  let movesWindow = false; // a drag that began in the overview

  const known = new Map(result.resources.map((resource) => [resource.name, resource.utilization]));
  const use = schedule.tracks.map(
    (track) => known.get(track.name) ?? track.busy / (total * Math.max(1, track.lanes.length)),
  );
  const gutter = () => (body.width() < 640 ? 104 : 168);
  const wide = () => Math.max(1, body.width() - gutter());
  const timeAt = (x: number) => span.from + ((x - gutter()) / wide()) * (span.to - span.from);

  const header = surface({
    height: headerHeight,
    label: 'Overview of the step, its phases and a time axis',
    focusable: true,
    draw: (context, width, height) => {
      const pixels = Math.floor(width - gutter());
      if (busy.length !== pixels) busy = activity(schedule, total, pixels);
      paintHeader(
        context,
        { busy, phases: result.phases, span, total, gutter: gutter(), clock, selection },
        width,
        height,
      );
    },
  });
  const body = surface({
    height: 200,
    label: `Schedule: ${schedule.tracks.length} tracks, ${schedule.count} tiles and transfers over ${clock.text(total)}`,
    focusable: true,
    draw: (context, width, height) => {
      const scene = {
        schedule,
        colouring: colours,
        rows: layout.rows,
        rowOfTrack,
        hidden,
        span,
        use,
        gutter: gutter(),
        scroll: scroller.scrollTop,
        emphasis,
        chain,
        critical,
      };
      body.canvas.dataset.rects = String(paint(context, scene, width, height));
      body.canvas.dataset.span = `${span.from} ${span.to}`;
    },
  });
  body.canvas.classList.add('sticky');
  const inner = h('div', null, body.canvas);
  const scroller = h('div', { class: 'schedule-scroll', scroll: () => body.redraw() }, inner);

  const redraw = () => {
    header.redraw();
    body.redraw();
  };
  const setSpan = (next: Span) => {
    span = clamped(next, 0, total, Math.max(total * 1e-7, 4));
    redraw();
  };
  const arrange = () => {
    layout = rowsOf(schedule, { hidden, idle });
    rowOfTrack = new Map(layout.rows.filter((row) => row.track >= 0).map((row) => [row.track, row]));
    inner.style.height = `${layout.height}px`;
    body.resize(Math.min(layout.height, mostHeight));
    redraw();
  };
  const emphasise = () => {
    const keep = matches
      ? (event: number) => schedule.name[event] >= 0 && matches![schedule.name[event]] === 1
      : critical
        ? (event: number) => schedule.isCritical[event] === 1
        : null;
    emphasis =
      keep &&
      new Map(schedule.tracks.flatMap((track) => track.lanes).map((lane) => [lane, subset(lane, schedule, keep)]));
    redraw();
  };
  const hit = (x: number, y: number): number => {
    const row = rowAt(layout.rows, y + scroller.scrollTop);
    if (!row || row.track < 0 || x < gutter()) return -1;
    const { lanes } = schedule.tracks[row.track];
    if (lanes.length === 0) return -1;
    const lane = lanes[laneAt(row, lanes.length, y + scroller.scrollTop)];
    const slack = ((span.to - span.from) / wide()) * 3;
    const stressed = emphasis?.get(lane);
    const best = stressed ? eventAt(stressed, schedule, timeAt(x), slack) : -1;
    return best >= 0 ? best : eventAt(lane, schedule, timeAt(x), slack);
  };
  const pin = (event: number) => {
    chain = event < 0 ? [] : [event, ...chainOf(schedule, event)];
    pinned(event);
    redraw();
  };
  const show = (event: number) => {
    const length = Math.max(schedule.end[event] - schedule.start[event], total * 1e-6);
    const middle = (schedule.start[event] + schedule.end[event]) / 2;
    // The zoom stays where the bar can be seen in it.
    const half = span.to - span.from < length * 40 ? Math.max((span.to - span.from) / 2, length) : length * 6;
    setSpan({ from: middle - half, to: middle + half });
    const group = schedule.tracks[schedule.track[event]].kind;
    if (hidden.has(group)) fold(group, false);
    const row = rowOfTrack.get(schedule.track[event]);
    if (row && (row.y < scroller.scrollTop || row.y + row.height > scroller.scrollTop + scroller.clientHeight)) {
      scroller.scrollTop = row.y - scroller.clientHeight / 2;
    }
    pin(event);
  };
  const fold = (group: Group, on: boolean) => {
    if (on) hidden.add(group);
    else hidden.delete(group);
    folded(group, on);
    arrange();
  };
  const next = () => {
    if (!matches) return;
    for (let k = 1; k <= schedule.count; ++k) {
      const event = (found + k) % schedule.count;
      if (schedule.name[event] >= 0 && matches[schedule.name[event]] === 1) {
        found = event;
        show(event);
        return;
      }
    }
  };
  const key = (name: string): boolean => {
    const length = span.to - span.from;
    const middle = (span.from + span.to) / 2;
    if (name === 'ArrowLeft' || name === 'a') setSpan(moved(span, -length * 0.15));
    else if (name === 'ArrowRight' || name === 'd') setSpan(moved(span, length * 0.15));
    else if (name === '+' || name === '=' || name === 'w') setSpan(zoomed(span, 0.7, middle));
    else if (name === '-' || name === 's') setSpan(zoomed(span, 1 / 0.7, middle));
    else if (name === '0' || name === 'f' || name === 'Home') setSpan({ from: 0, to: total });
    else if (name === 'ArrowUp') scroller.scrollTop -= 40;
    else if (name === 'ArrowDown') scroller.scrollTop += 40;
    else if (name === 'n' && matches) next();
    else if (name === 'Escape') pin(-1);
    else return false;
    return true;
  };
  const select = (from: number, to: number, done: boolean) => {
    selection = done ? null : [Math.max(gutter(), from), Math.max(gutter(), to)];
    if (done) setSpan({ from: timeAt(Math.max(gutter(), Math.min(from, to))), to: timeAt(Math.max(from, to)) });
    else redraw();
  };
  const zoomAt = (scale: number, x: number) => setSpan(zoomed(span, scale, timeAt(Math.max(gutter(), x))));

  gestures(body.canvas, {
    zoom: zoomAt,
    pan: (dx, dy) => {
      scroller.scrollTop -= dy;
      setSpan(moved(span, (-dx / wide()) * (span.to - span.from)));
    },
    click: (x, y) => {
      const row = rowAt(layout.rows, y + scroller.scrollTop);
      if (row && row.track < 0) fold(row.group, !hidden.has(row.group));
      else pin(hit(x, y));
    },
    hover: (x, y, event) => {
      const under = hit(x, y);
      body.canvas.style.cursor = under >= 0 ? 'pointer' : 'grab';
      if (under >= 0) showTooltip(event, describe(schedule, result, clock, under));
      else hideTooltip();
    },
    leave: hideTooltip,
    select,
    key,
  });
  gestures(header.canvas, {
    zoom: zoomAt,
    pan: (dx) => setSpan(moved(span, (dx / wide()) * (movesWindow ? total : span.from - span.to))),
    selects: (_x, y) => !(movesWindow = y < overviewHeight),
    select,
    click: (x, y) => {
      if (y >= overviewHeight) return;
      const place = ((x - gutter()) / wide()) * total;
      setSpan(moved(span, place - (span.from + span.to) / 2));
    },
    key,
  });
  arrange();

  return {
    element: h('div', { class: 'schedule' }, h('div', { class: 'schedule-head' }, header.canvas), scroller),
    fit: () => setSpan({ from: 0, to: total }),
    zoomBy: (scale) => setSpan(zoomed(span, scale, (span.from + span.to) / 2)),
    colourBy: (mode) => {
      colours = colouring(schedule, result.operators, mode);
      redraw();
      return colours;
    },
    showIdle: (on) => {
      idle = on;
      arrange();
    },
    showCritical: (on) => {
      critical = on;
      emphasise();
    },
    fold,
    search: (text) => {
      const word = text.trim().toLowerCase();
      matches =
        word === '' ? null : Uint8Array.from(schedule.names, (name) => (name.toLowerCase().includes(word) ? 1 : 0));
      found = -1;
      emphasise();
      return matches ? matches.reduce((total_, one) => total_ + one, 0) : 0;
    },
    next,
    pin,
    show,
  };
}
