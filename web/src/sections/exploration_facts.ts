// What an exploration says as a whole: its size, what its parameters do, what failed.
import { choice, fill, h, type Child } from '../base/dom';
import { turnStyle } from '../base/colours';
import { grouped, percent, unitText } from '../base/units';
import { lengths } from '../charts/bars';
import { panel } from '../charts/section';
import { table } from '../charts/table';
import type { Exploration } from '../decode/exploration';
import { plainName } from './dimensions';

export function explorationSummary(exploration: Exploration): Child {
  return [
    exploration.description && h('p', { class: 'about' }, exploration.description),
    recommendation(exploration),
    h('div', { class: 'cards' }, cards(exploration)),
    exploration.notes.length > 0 &&
      panel(
        'Notes',
        h(
          'ul',
          { class: 'lines' },
          exploration.notes.map((note) => h('li', null, note)),
        ),
      ),
  ];
}

function recommendation(exploration: Exploration): Child {
  const { recommended } = exploration;
  if (!recommended) return null;
  const settings = exploration.parameters
    .map((p, k) => `${p.name} ${p.values[exploration.parameter[k][recommended.shown]] ?? ''}`)
    .join(', ');
  return h(
    'p',
    { class: 'recommended' },
    h('span', { class: 'badge good' }, 'recommended'),
    ` design ${recommended.index} (${settings}): ${recommended.why}`,
  );
}

// "61% (38 to 76)"; of few designs nothing can be said.
function shareText(s: Exploration['sensitivities'][number]): string {
  if (s.share_low === s.share_high) return percent(s.share);
  if (s.share_low <= 0 && s.share_high >= 1) return 'not known';
  return `${percent(s.share_likely, 0)} (${(100 * s.share_low).toFixed(0)} to ${(100 * s.share_high).toFixed(0)})`;
}

function cards(exploration: Exploration): Child {
  const { evaluated, failed, excluded } = exploration;
  const front = exploration.front.reduce((a, b) => a + b, 0);
  const card = (title: string, value: string, ...under: string[]) =>
    h(
      'div',
      { class: 'card' },
      h('h3', null, title),
      h('div', { class: 'big' }, value),
      under.filter(Boolean).map((line) => h('div', { class: 'under' }, line)),
    );
  return [
    card(
      'Designs evaluated',
      grouped(evaluated),
      `of ${grouped(exploration.space_size)} in ${exploration.space}`,
      exploration.method,
      `numbers: ${exploration.recipes.map((r) => r.text + (r.designs < evaluated ? ` (${grouped(r.designs)} designs)` : '')).join(', ')}`,
      exploration.shown < evaluated
        ? `${grouped(exploration.shown)} of them are here: the front, and every so many of the rest`
        : '',
    ),
    card(
      'On the front',
      grouped(front),
      exploration.tolerance > 0 ? `those that differ by more than ${percent(exploration.tolerance)} in some objective` : '',
      exploration.objectives.map((o) => `${o.better === 'less' ? 'least' : 'most'} ${plainName(o.name)}`).join(', '),
    ),
    card(
      'Failed',
      grouped(failed),
      failed > 0 ? percent(failed / Math.max(1, failed + evaluated)) : 'every design could be evaluated',
      excluded > 0 ? `${grouped(excluded)} more left out by constraints` : '',
    ),
    card(
      'Hypervolume',
      Number.isFinite(exploration.hypervolume) ? exploration.hypervolume.toPrecision(4) : '–',
      'share of the objectives’ range that the front dominates',
      exploration.workloads.length > 0 ? `workloads: ${exploration.workloads.join(', ')}` : '',
    ),
  ];
}

export function explorationAnalysis(exploration: Exploration): Child {
  return [
    exploration.sensitivities.length > 0 && sensitivities(exploration),
    exploration.correlations.length > 0 && panel('Metrics that go together', correlations(exploration)),
    panel(
      'Failures',
      exploration.failures.length === 0
        ? h('p', { class: 'quiet' }, 'None.')
        : table({
            label: 'Failures',
            rows: exploration.failures,
            sort: { column: 1, down: true },
            columns: [
              { name: 'reason', value: (f) => f.reason },
              { name: 'designs', value: (f) => f.designs },
            ],
          }).element,
    ),
  ];
}

function sensitivities(exploration: Exploration): Child {
  const objectives = [...new Set(exploration.sensitivities.map((s) => s.objective))];
  const values = h('div');
  const show = (index: number) => {
    const s = exploration.sensitivities[index];
    if (!s) return;
    const unit =
      exploration.metrics.find((m) => m.name === s.objective)?.unit ??
      exploration.metrics[exploration.objectives.find((o) => o.name === s.objective)?.metric ?? -1]?.unit ??
      '';
    fill(
      values,
      table({
        label: `${s.parameter} and ${s.objective}`,
        rows: s.values,
        columns: [
          { name: s.parameter, value: (v) => v.value },
          { name: 'designs', value: (v) => v.designs },
          { name: 'on the front', value: (v) => v.on_front, bar: (v) => v.on_front / Math.max(1, v.designs) },
          { name: `mean ${s.objective}`, value: (v) => v.mean, show: (v) => unitText(v.mean, unit) },
          { name: `best ${s.objective}`, value: (v) => v.best, show: (v) => unitText(v.best, unit) },
        ],
      }).element,
    );
  };
  show(0);
  return [
    h(
      'div',
      { class: 'columns' },
      objectives.map((objective, k) =>
        panel(
          `What decides ${objective}`,
          lengths(
            exploration.sensitivities
              .filter((s) => s.objective === objective)
              .sort((a, b) => b.share_likely - a.share_likely)
              .map((s) => ({
                name: s.parameter,
                value: s.share_low <= 0 && s.share_high >= 1 ? 0 : s.share_likely,
                text: shareText(s),
                colour: turnStyle(k),
                title: `${s.parameter} alone explains ${percent(s.share)} of the variance of ${objective} among the designs seen; in the whole space ${shareText(s)}, with 90 % confidence`,
              })),
          ),
        ),
      ),
    ),
    panel(
      'By value',
      h(
        'div',
        { class: 'controls' },
        choice(
          'Parameter',
          exploration.sensitivities.map((s, k): [string, string] => [String(k), `${s.parameter} → ${s.objective}`]),
          '0',
          (k) => show(Number(k)),
        ),
      ),
      values,
    ),
  ];
}

function correlations(exploration: Exploration): Child {
  return table({
    label: 'Correlations',
    rows: exploration.correlations,
    columns: [
      { name: 'of', value: (c) => c.a },
      { name: 'and', value: (c) => c.b },
      { name: 'metric', value: (c) => c.metric },
      {
        name: 'rank correlation',
        title: 'Spearman: 1 means the same order, −1 the opposite',
        value: (c) => c.spearman,
        show: (c) => c.spearman.toFixed(3),
        bar: (c) => Math.abs(c.spearman),
      },
      { name: 'designs', value: (c) => c.designs, show: (c) => grouped(c.designs) },
    ],
  }).element;
}
