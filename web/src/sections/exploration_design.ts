// One design of an exploration: as a row of a table, beside the pointer, and in full.
import { copyButton, h, type Child } from '../base/dom';
import { unitText } from '../base/units';
import type { Column } from '../charts/table';
import { facts } from '../charts/tooltip';
import { commandOf, type Exploration } from '../decode/exploration';
import { metricName, plainName } from './dimensions';

export function columnsOf(exploration: Exploration): Column<number>[] {
  const objectives = exploration.objectives.map((objective) => objective.metric);
  const others = exploration.metrics.map((_, k) => k).filter((k) => !objectives.includes(k));
  const metric = (k: number): Column<number> => ({
    name: metricName(exploration, k),
    value: (i) => exploration.metric[k][i],
    show: (i) => dimensionText(exploration, k, exploration.metric[k][i]),
  });
  return [
    {
      name: 'design',
      value: (i) => exploration.id[i],
      show: (i) => [
        String(exploration.id[i]),
        exploration.front[i] === 1 && h('span', { class: 'badge good' }, 'front'),
      ],
    },
    ...objectives.map(metric),
    ...exploration.parameters.map(
      (parameter, k): Column<number> => ({
        name: parameter.name,
        value: (i) => exploration.parameter[k][i],
        show: (i) => parameter.values[exploration.parameter[k][i]] ?? '',
      }),
    ),
    ...others.map(metric),
  ];
}

function dimensionText(exploration: Exploration, k: number, value: number): string {
  return unitText(value, exploration.metrics[k].unit);
}

export function designFacts(exploration: Exploration, design: number): Child {
  return [
    h('strong', null, `design ${exploration.id[design]}${exploration.front[design] ? ', on the front' : ''}`),
    facts([
      ...exploration.objectives.map((o): [string, Child] => [
        metricName(exploration, o.metric),
        dimensionText(exploration, o.metric, exploration.metric[o.metric][design]),
      ]),
      ...exploration.parameters
        .slice(0, 10)
        .map((p, k): [string, Child] => [p.name, p.values[exploration.parameter[k][design]] ?? '']),
    ]),
  ];
}

export function designPanel(exploration: Exploration, design: number): Child {
  const commands = exploration.commands.map((entry) => ({
    ...entry,
    command: commandOf(entry.command, exploration, design),
  }));
  const metrics = exploration.metrics
    .map((m, k) => ({ m, k }))
    .filter(({ k }) => Number.isFinite(exploration.metric[k][design]));
  const of = (workload: string) =>
    facts(
      metrics
        .filter(({ m }) => m.workload === workload)
        .map(({ m, k }): [string, Child] => [
          plainName(m.name),
          dimensionText(exploration, k, exploration.metric[k][design]),
        ]),
    );
  return h(
    'div',
    null,
    h(
      'h4',
      null,
      `Design ${exploration.id[design]} `,
      exploration.front[design] === 1 && h('span', { class: 'badge good' }, 'on the front'),
    ),
    h(
      'div',
      { class: 'pinned' },
      h(
        'div',
        null,
        h('h4', null, 'Parameters'),
        facts(
          exploration.parameters.map((p, k): [string, Child] => [
            p.name,
            p.values[exploration.parameter[k][design]] ?? '',
          ]),
        ),
      ),
      ['', ...exploration.workloads]
        .filter((workload) => metrics.some(({ m }) => m.workload === workload))
        .map((workload) => h('div', null, h('h4', null, workload || 'All workloads'), of(workload))),
    ),
    commands.length > 0 && h('h4', null, 'See it in full'),
    commands.map((entry) =>
      h(
        'div',
        { class: 'command' },
        h('pre', { tabindex: 0 }, entry.command),
        copyButton(() => entry.command),
      ),
    ),
  );
}
