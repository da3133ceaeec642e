// Searches and explorations in the background: progress, the front so far, pause, stop and resume.
import { button, choice, fill, h, toggle, type Child } from '../base/dom';
import { number, object, objects } from '../base/read';
import { colour } from '../base/theme';
import { byteSize, energyText, secondsText } from '../base/units';
import { scatter, type Scatter } from '../charts/scatter';
import { facts } from '../charts/tooltip';
import { address, ask, jobRows, type JobRow, type Named } from './ask';
import { in_turn } from './turns';
import { hashOf, made_by, wanted, type Question } from './wanted';

export const jobsPlace = h('div', { id: 'jobs' });
export const frontPlace = h('div', { id: 'front' });

interface Found {
  latency_s: number;
  energy_pj: number;
  peak_bytes: number;
  what: [string, string][];
}

const state = { watched: 0, front: [] as Found[], drawn: null as Scatter | null, timer: 0 };

const ends = (job: JobRow) => !['running', 'waiting', 'paused'].includes(job.state);

export const begin_job = (asked: Question, done: () => Promise<void>) =>
  in_turn(async () => {
    const begun = object(await ask('/api/jobs', JSON.stringify(asked)));
    state.watched = number(begun.job);
    await showJobs(done);
  });

const act = (job: JobRow, what: string, done: () => Promise<void>) => () =>
  void in_turn(async () => {
    const answer = object(await ask(`/api/jobs/${job.id}/${what}`, ''));
    if (what === 'resume') state.watched = number(answer.job);
    await showJobs(done);
  });

function row(job: JobRow, done: () => Promise<void>): HTMLElement {
  const kind = job.state === 'done' ? 'good' : job.state === 'failed' ? 'bad' : '';
  return h(
    'div',
    { class: 'row job' },
    h('span', { class: `badge ${kind}` }, job.state),
    h('code', null, job.title),
    !ends(job) && job.all > 0 && h('progress', { max: job.all, value: job.done }),
    !ends(job) && h('span', { class: 'quiet' }, `${job.what} ${job.done}${job.all > 0 ? ` of ${job.all}` : ''}`),
    job.state === 'running' && button('pause', 'Stay where it is, and let others run', act(job, 'pause', done)),
    (job.state === 'paused' || job.state === 'stopped' || job.state === 'interrupted') &&
      button('resume', 'Go on', act(job, 'resume', done)),
    !ends(job) && button('stop', 'End with the best so far', act(job, 'stop', done)),
    h('a', { href: hashOf({ kind: 'job', id: job.id }) }, 'front'),
    job.run > 0 && h('a', { href: hashOf({ kind: 'run', id: job.run }) }, 'result'),
    job.run > 0 &&
      h('a', { href: address(`/api/runs/${job.run}/plan`), download: `plan-${job.run}.yaml`, class: 'plan' }, 'plan'),
    job.error && h('span', { class: 'mistake' }, job.error),
  );
}

export async function showJobs(done: () => Promise<void>): Promise<void> {
  const jobs = jobRows(await ask('/api/jobs'));
  fill(
    jobsPlace,
    jobs.length > 0 && h('h2', null, 'Searches'),
    jobs.slice(0, 10).map((job) => row(job, done)),
  );
  if (state.watched > 0) await showFront(state.watched);
  clearTimeout(state.timer);
  if (jobs.some((job) => !ends(job))) {
    state.timer = window.setTimeout(() => void showJobs(done).then(done).catch(() => undefined), 700);
  }
}

// Drawn again as more is found.
export async function showFront(id: number): Promise<void> {
  const job = object(await ask(`/api/jobs/${id}`));
  const first = state.watched !== id || !state.drawn;
  state.watched = id;
  state.front = objects(job.front, (point) => ({
    latency_s: number(point.latency_s),
    energy_pj: number(point.energy_pj),
    peak_bytes: number(point.peak_bytes),
    what: Object.entries(object(point.parameters ?? {})).map(([name, value]): [string, string] => [name, String(value)]),
  }));
  if (first || !frontPlace.firstChild) {
    state.drawn = chart();
    fill(
      frontPlace,
      h('h2', null, 'The front so far'),
      made_by(String(job.words), { kind: 'job', id }),
      state.drawn.element,
      h('p', { class: 'quiet count' }),
    );
  }
  const count = frontPlace.querySelector('.count');
  if (count) count.textContent = `${state.front.length} that no other beats; ${String(job.state)}`;
  state.drawn?.rebuild();
}

function chart(): Scatter {
  return scatter({
    label: 'Latency and energy of what was found so far',
    height: 280,
    state: () => ({
      x: { label: 'latency', log: false, text: secondsText },
      y: { label: 'energy', log: false, text: energyText },
      points: {
        x: state.front.map((p) => p.latency_s),
        y: state.front.map((p) => p.energy_pj),
        count: state.front.length,
        colour: () => colour('c-orange'),
        size: () => 5,
      },
      picked: -1,
    }),
    hover: (i): Child => {
      const point = state.front[i];
      return facts([
        ['latency', secondsText(point.latency_s)],
        ['energy', energyText(point.energy_pj)],
        ['memory', byteSize(point.peak_bytes)],
        ...point.what,
      ]);
    },
    pick: () => undefined,
  });
}

// Which machine of a space should be built?
export function exploreForm(spaces: Named[], done: () => Promise<void>): HTMLElement {
  const chosen = { space: spaces[0]?.name ?? '', own: true };
  const samples: HTMLInputElement = h('input', { value: '100', inputmode: 'numeric', 'aria-label': 'Designs' });
  return h(
    'details',
    { class: 'explore' },
    h('summary', null, 'Explore machines'),
    choice('Space', spaces.map((s) => [s.name, s.name]), chosen.space, (name) => (chosen.space = name)),
    toggle('for the network and batch above', true, (on) => (chosen.own = on)),
    h('label', { class: 'field' }, 'Designs at most', samples),
    button('Explore', 'Search for the best machines of the space', () => {
      const asked: Question = { command: 'explore', space: chosen.space };
      if (samples.value.trim() !== '') asked.samples = Number(samples.value) || samples.value;
      if (chosen.own) asked.network = wanted.network;
      if (chosen.own && wanted.batch !== '') asked.batch = Number(wanted.batch) || wanted.batch;
      void begin_job(asked, done);
    }),
  );
}
