// The schedule with its controls, legend and pinned event.
import { button, choice, fill, h, searchBox, toggle, type Child } from '../base/dom';
import { onRedraw } from '../base/theme';
import { plural } from '../base/units';
import { swatch } from '../charts/tooltip';
import { horizon, type Evaluation } from '../decode/result';
import { decodeSchedule } from '../decode/schedule';
import { scheduleChart } from '../schedule/chart';
import { modes, type Colouring, type Mode } from '../schedule/colouring';
import { pinnedPanel } from '../schedule/describe';
import { groups, groupTitles, tracksOf, type Group } from '../schedule/rows';

export function scheduleSection(evaluation: Evaluation): Child {
  const { result, clock } = evaluation;
  const schedule = decodeSchedule(evaluation.raw.schedule, result.operators.length);
  let total = horizon(result);
  for (let event = 0; event < schedule.count; ++event) total = Math.max(total, schedule.end[event]);

  const details = h('div', { class: 'panel details', 'aria-live': 'polite' });
  const legend = h('div', { class: 'legend' });
  const matched = h('span', { class: 'quiet', 'aria-live': 'polite' });
  const folds = new Map<Group, HTMLInputElement>();
  const chart = scheduleChart(
    schedule,
    result,
    total,
    clock,
    (event) =>
      fill(
        details,
        pinnedPanel(schedule, result, clock, event, (e) => chart.show(e)),
      ),
    (group, on) => {
      const box = folds.get(group);
      if (box) box.checked = !on;
    },
  );
  let mode: Mode = result.stacks > 1 ? 'stack' : 'phase';
  const explain = (colours: Colouring) => {
    fill(
      legend,
      mode === 'stack' && h('span', { class: 'quiet' }, `${plural(result.stacks, 'stack')}, one colour each`),
      colours.legend.map(({ index, name }) => h('span', null, swatch(colours.entries[index].colour()), name)),
      colours.stalled.some((share) => share > 0.02) &&
        h('span', { class: 'quiet' }, 'the pale part of a bar: its operator is stalled'),
    );
  };
  const recolour = () => explain(chart.colourBy(mode));
  recolour();
  onRedraw(recolour);
  chart.pin(-1);

  const groupSwitches = groups
    .filter((group) => tracksOf(schedule, group).length > 0)
    .map((group) => {
      const made = toggle(groupTitles[group], true, (on) => chart.fold(group, !on));
      folds.set(group, made.querySelector('input')!);
      return made;
    });
  const ports = tracksOf(schedule, 'port').filter((track) => schedule.tracks[track].events > 0).length;
  if (ports > 24) chart.fold('port', true);

  return [
    h(
      'div',
      { class: 'controls' },
      choice('Colour by', modes, mode, (value) => {
        mode = value as Mode;
        recolour();
      }),
      searchBox(
        'Find operators and tensors',
        (text) => {
          const count = chart.search(text);
          matched.textContent = text.trim() === '' ? '' : `${plural(count, 'name')}; Enter goes to the next`;
        },
        () => chart.next(),
      ),
      matched,
    ),
    h(
      'div',
      { class: 'controls' },
      groupSwitches,
      toggle('Idle tracks', false, (on) => chart.showIdle(on)),
      toggle('Critical path', false, (on) => chart.showCritical(on)),
      h('span', { class: 'spacer' }),
      button('−', 'Zoom out', () => chart.zoomBy(1.6)),
      button('+', 'Zoom in', () => chart.zoomBy(1 / 1.6)),
      button('Fit', 'Show the whole step', () => chart.fit()),
    ),
    h('div', { class: 'panel chart-panel' }, chart.element, legend),
    h(
      'p',
      { class: 'quiet hint keys' },
      'Click the chart, then: wheel or + − to zoom, drag or ← → to move, drag over the time axis (or with Shift) to zoom in there, 0 to fit, Esc to unpin. With Ctrl the wheel zooms at once.',
    ),
    details,
  ];
}
