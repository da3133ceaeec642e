// What an event is, in words: for the box beside the pointer and for the pinned one.
import { button, h, type Child } from '../base/dom';
import { byteSize, cyclesText, grouped, type Clock } from '../base/units';
import type { ResultData } from '../data';
import { facts } from '../charts/tooltip';
import { chainOf, eventTitle, usersOf, type Schedule } from '../decode/schedule';

export function describe(schedule: Schedule, result: ResultData, clock: Clock, event: number): HTMLElement {
  return h('div', null, h('strong', null, eventTitle(schedule, event)), facts(pairs(schedule, result, clock, event)));
}

function pairs(schedule: Schedule, result: ResultData, clock: Clock, event: number): [string, Child][] {
  const operator = result.operators[schedule.node[event]];
  const length = schedule.end[event] - schedule.start[event];
  const tile = schedule.part[event];
  return [
    ['on', schedule.tracks[schedule.track[event]].name],
    ['kind', schedule.kinds[schedule.kind[event]] ?? ''],
    ['operator', operator ? `${operator.name} (${operator.operator})` : ''],
    ['phase', operator ? operator.phase : ''],
    ['stack', operator ? operator.stack : ''],
    ['tile', tile >= 0 && operator ? `${tile + 1} of ${grouped(operator.tiles)}` : ''],
    ['from', clock.text(schedule.start[event])],
    ['to', clock.text(schedule.end[event])],
    ['takes', clock.hertz === null ? clock.text(length) : `${clock.text(length)} (${cyclesText(length)} cycles)`],
    ['moves', schedule.bytes[event] > 0 ? byteSize(schedule.bytes[event]) : ''],
    ['waited for', (schedule.causes[schedule.cause[event]] ?? '').replace(/^waited for /, '')],
    ['critical path', schedule.isCritical[event] ? 'yes' : ''],
  ];
}

// The pinned event with what it used and what uses it.
export function pinnedPanel(
  schedule: Schedule,
  result: ResultData,
  clock: Clock,
  event: number,
  show: (event: number) => void,
): Child {
  if (event < 0)
    return h(
      'p',
      { class: 'quiet hint' },
      'Click a bar to pin it: its numbers, and the chain of what it waited for, appear here.',
    );
  const link = (e: number) => {
    const made = button(
      `${eventTitle(schedule, e)} · ${schedule.tracks[schedule.track[e]].name} · ${clock.text(schedule.start[e])}`,
      'Show in the chart',
      () => show(e),
      'link',
    );
    return h('li', null, made);
  };
  const chain = chainOf(schedule, event);
  const users = usersOf(schedule, event);
  return h(
    'div',
    { class: 'pinned' },
    h('div', null, h('h4', null, eventTitle(schedule, event)), facts(pairs(schedule, result, clock, event))),
    h(
      'div',
      null,
      h('h4', null, chain.length > 0 ? 'It used the result of, and so on back' : 'It waited for nothing'),
      h('ol', { class: 'chain' }, chain.slice(0, 30).map(link)),
    ),
    h(
      'div',
      null,
      h('h4', null, users.length > 0 ? 'Its result went to' : 'Nothing waited for it'),
      h('ul', { class: 'chain' }, users.slice(0, 30).map(link)),
    ),
  );
}
