// The history, and runs of it side by side.
import { button, fill, h } from '../base/dom';
import { list, object } from '../base/read';
import { byteSize, energyText, secondsText } from '../base/units';
import { decodeEvaluation, type Evaluation } from '../decode/result';
import { comparisonSection } from '../sections/comparison';
import { summarySection } from '../sections/summary';
import { address, ask, runRows, type RunRow } from './ask';
import { hashOf, made_by, type Question } from './wanted';

export const historyPlace = h('div', { id: 'history' });

const chosen = new Set<number>();

export async function showHistory(again: (asked: Question) => void): Promise<void> {
  const runs = runRows(await ask('/api/runs'));
  const cell = (value: string) => h('td', { class: 'number' }, value);
  const compare = button('Side by side', 'What differs between those that are ticked', () => {
    location.hash = hashOf({ kind: 'compare', ids: [...chosen].sort((a, b) => a - b) });
  });
  const enable = () => (compare.disabled = chosen.size < 2);
  enable();
  const row = (run: RunRow) => {
    const tick: HTMLInputElement = h('input', {
      type: 'checkbox',
      checked: chosen.has(run.id),
      'aria-label': `Run ${run.id}`,
      change: () => {
        if (tick.checked) chosen.add(run.id);
        else chosen.delete(run.id);
        enable();
      },
    });
    return h(
      'tr',
      { title: run.words },
      h('td', null, run.command !== 'explore' && tick),
      h('td', null, run.at),
      h('td', null, run.command === 'evaluate' ? run.title : `${run.command}: ${run.title}`),
      cell(run.latency_s > 0 ? secondsText(run.latency_s) : ''),
      cell(run.energy_pj > 0 ? energyText(run.energy_pj) : ''),
      cell(run.peak_bytes > 0 ? byteSize(run.peak_bytes) : ''),
      h(
        'td',
        { class: 'row' },
        h('a', { href: hashOf({ kind: 'run', id: run.id }) }, 'open'),
        h('a', { href: address(`/api/runs/${run.id}/page`), target: '_blank', rel: 'noopener' }, 'report'),
        run.command !== 'explore' &&
          h('a', { href: address(`/api/runs/${run.id}/plan`), download: `plan-${run.id}.yaml`, class: 'plan' }, 'plan'),
        run.command !== 'explore' && button('again', 'Ask the same again', () => again({ ...run.question, command: undefined })),
      ),
    );
  };
  const names = ['', 'when', 'what', 'latency', 'energy', 'memory', ''];
  fill(
    historyPlace,
    h('h2', null, 'History'),
    runs.length === 0
      ? h('p', null, 'Nothing yet: Evaluate keeps what it finds here.')
      : [
          h('table', null, h('tr', null, names.map((name) => h('th', null, name))), runs.slice(0, 50).map(row)),
          runs.length > 50 && h('p', { class: 'quiet' }, `and ${runs.length - 50} older ones`),
          compare,
        ],
  );
}

// A run as it was: an evaluation as when it was made, of a search its report.
export async function showRun(id: number, place: HTMLElement): Promise<void> {
  const found = object(await ask(`/api/runs/${id}`));
  const [run] = list([found.run], (value) => runRows([value])[0]);
  const made = made_by(run.words, { kind: 'run', id });
  if (run.command === 'evaluate') {
    fill(place, made, summarySection(decodeEvaluation({ name: '', result: found.result })));
    return;
  }
  const page = address(`/api/runs/${id}/page`);
  fill(place, made, h('iframe', { class: 'report', src: page, title: `The report of ${run.title}` }));
}

// Several runs, a column each; of two also what changed.
export async function showCompared(ids: number[], place: HTMLElement): Promise<void> {
  const columns: Evaluation[] = [];
  let comparison: unknown;
  for (const id of ids.slice(1)) {
    const found = object(await ask(`/api/compare?a=${ids[0]}&b=${id}`));
    if (columns.length === 0) columns.push(decodeEvaluation({ name: `run ${ids[0]}`, result: found.a }));
    columns.push(decodeEvaluation({ name: `run ${id}`, result: found.b }));
    comparison = found.comparison;
  }
  fill(
    place,
    made_by(`monet compare ${ids.map((id) => `run-${id}`).join(' ')}   # folders of monet evaluate --plan plan-N.yaml -o run-N`, {
      kind: 'compare',
      ids,
    }),
    h(
      'div',
      { class: 'side-by-side' },
      columns.map((evaluation, k) => h('div', { class: 'one' }, h('h2', null, `Run ${ids[k]}`), summarySection(evaluation))),
    ),
    ids.length === 2 &&
      comparisonSection(
        comparison,
        columns.map((evaluation) => evaluation.clock),
      ),
  );
}
