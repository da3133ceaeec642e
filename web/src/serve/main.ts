// The page of `monet serve`: a network, a machine, its sliders; results at once, searches in the background, history.
import { button, choice, fill, h, toggle } from '../base/dom';
import { object, text } from '../base/read';
import { start } from '../base/theme';
import { byteSize, energyText, secondsText } from '../base/units';
import { decodeEvaluation } from '../decode/result';
import { summarySection } from '../sections/summary';
import { address, ask, jobRows, Mistake, named, runRows, type Named, type RunRow } from './ask';
import { pointsChart, type Point } from './points';

const RECIPES = ['', 'fp32', 'tf32', 'bf16', 'mixed', 'fp16', 'fp8', 'int8', 'mxfp8', 'int8-everywhere'];
const OPTIMIZERS = ['adam', 'adamw', 'sgd', 'momentum', 'nesterov', 'adafactor', 'lion', 'adam8bit'];
const LOWERINGS = ['', 'eager', 'compiled', 'nests'];

// What is asked for next.
const wanted = {
  network: 'resnet18-cifar',
  machine: 'edge_tpu',
  yaml: '', // instead of the preset, when it is edited
  set: {} as Record<string, string>,
  batch: '',
  precision: '',
  optimizer: 'adam',
  lowering: '',
  inference: false,
};

const points: Point[] = [];
let last: RunRow | null = null;
let lastPlan = false;

const places = {
  networks: h('div'),
  machine: h('div', { class: 'panel' }),
  sliders: h('div', { class: 'panel' }),
  mistake: h('p', { class: 'mistake', role: 'alert' }),
  words: h('code', { class: 'words' }),
  result: h('div', { id: 'result' }),
  chart: h('div'),
  jobs: h('div', { id: 'jobs' }),
  history: h('div', { id: 'history' }),
};

function question(): Record<string, unknown> {
  const asked: Record<string, unknown> = { network: wanted.network, optimizer: wanted.optimizer };
  if (wanted.yaml) asked.machine_yaml = wanted.yaml;
  else asked.machine = wanted.machine;
  if (Object.keys(wanted.set).length > 0) asked.set = wanted.set;
  const batch = Number(wanted.batch);
  if (wanted.batch !== '') asked.batch = Number.isInteger(batch) ? batch : wanted.batch;
  if (wanted.precision) asked.precision = wanted.precision;
  if (wanted.lowering) asked.lowering = wanted.lowering;
  if (wanted.inference) asked.inference = true;
  return asked;
}

function tell(problem: unknown): void {
  const said =
    problem instanceof Mistake
      ? `${problem.place}: ${problem.message}${problem.advice ? `\n${problem.advice}` : ''}`
      : `The server does not answer: ${problem instanceof Error ? problem.message : String(problem)}`;
  places.mistake.textContent = said;
  if (problem instanceof Mistake && problem.line > 0) mark(problem.line);
}

// The line of a mistake is selected in the editor.
function mark(line: number): void {
  const editor = document.querySelector('textarea');
  if (!editor) return;
  const lines = editor.value.split('\n');
  const begin = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0);
  editor.focus();
  editor.setSelectionRange(begin, begin + (lines[line - 1]?.length ?? 0));
}

// One evaluation at a time; of what was asked for meanwhile the last.
let running = false;
let next: (() => Promise<void>) | null = null;
async function in_turn(work: () => Promise<void>): Promise<void> {
  if (running) {
    next = work;
    return;
  }
  running = true;
  document.body.setAttribute('aria-busy', 'true');
  try {
    await work();
    places.mistake.textContent = '';
  } catch (problem) {
    tell(problem);
  }
  running = false;
  document.body.removeAttribute('aria-busy');
  const following = next;
  next = null;
  if (following) await in_turn(following);
}

const evaluate = (keep: boolean) =>
  in_turn(async () => {
    const answer = object(await ask(`/api/evaluate${keep ? '' : '?keep=no'}`, JSON.stringify(question())));
    const evaluation = decodeEvaluation({ name: '', result: answer.result });
    points.push({
      latency_s: evaluation.result.latency_s ?? 0,
      energy_pj: evaluation.result.energy_pj,
      label: text(answer.words),
    });
    if (points.length > 50) points.shift();
    places.words.textContent = text(answer.words);
    fill(places.result, summarySection(evaluation));
    fill(places.chart, h('h3', null, 'Tried so far'), pointsChart(points));
    lastPlan = keep;
    if (keep) await showHistory();
  });

const search = (command: string) =>
  in_turn(async () => {
    await ask('/api/jobs', JSON.stringify({ ...question(), command }));
    await showJobs();
  });

async function showHistory(): Promise<void> {
  const runs = runRows(await ask('/api/runs'));
  last = runs[0] ?? null;
  const cell = (value: string) => h('td', { class: 'number' }, value);
  fill(
    places.history,
    h('h2', null, 'History'),
    runs.length === 0
      ? h('p', null, 'Nothing yet.')
      : h(
          'table',
          null,
          h('tr', null, ['when', 'what', 'latency', 'energy', 'memory', ''].map((name) => h('th', null, name))),
          runs.slice(0, 50).map((run) =>
            h(
              'tr',
              { title: run.words },
              h('td', null, run.at),
              h('td', null, run.command === 'evaluate' ? run.title : `${run.command}: ${run.title}`),
              cell(run.latency_s > 0 ? secondsText(run.latency_s) : ''),
              cell(run.energy_pj > 0 ? energyText(run.energy_pj) : ''),
              cell(run.peak_bytes > 0 ? byteSize(run.peak_bytes) : ''),
              h(
                'td',
                { class: 'row' },
                h('a', { href: address(`/api/runs/${run.id}/page`), target: '_blank', rel: 'noopener' }, 'report'),
                h('a', { href: address(`/api/runs/${run.id}/plan`), download: `plan-${run.id}.yaml` }, 'plan'),
                button('again', 'Ask the same again', () => void again(run)),
              ),
            ),
          ),
        ),
    last && lastPlan && h('p', { class: 'quiet' }, `The last is run ${last.id}.`),
  );
}

async function again(run: RunRow): Promise<void> {
  const asked = run.question;
  wanted.network = text(asked.network, wanted.network);
  wanted.machine = text(asked.machine, wanted.machine);
  wanted.yaml = text(asked.machine_yaml);
  wanted.set = Object.fromEntries(Object.entries(object(asked.set ?? {})).map(([k, v]) => [k, text(v)]));
  wanted.batch = text(asked.batch);
  wanted.precision = text(asked.precision);
  wanted.optimizer = text(asked.optimizer, 'adam');
  wanted.lowering = text(asked.lowering);
  wanted.inference = asked.inference === true;
  await begin();
  await evaluate(false);
}

async function showJobs(): Promise<void> {
  const jobs = jobRows(await ask('/api/jobs'));
  const busy = jobs.some((job) => job.state === 'running' || job.state === 'waiting');
  fill(
    places.jobs,
    jobs.length > 0 && h('h2', null, 'Searches'),
    jobs.slice(0, 10).map((job) =>
      h(
        'div',
        { class: 'row' },
        h('span', { class: `badge ${job.state === 'done' ? 'good' : job.state === 'failed' ? 'bad' : ''}` }, job.state),
        h('code', null, job.title),
        job.state === 'running' && h('progress', { max: job.all || 1, value: job.done }),
        job.state === 'running' && h('span', { class: 'quiet' }, job.what),
        (job.state === 'running' || job.state === 'waiting') &&
          button('stop', 'End with the best so far', () => void in_turn(async () => void (await ask(`/api/jobs/${job.id}/stop`, '')))),
        job.run > 0 && h('a', { href: address(`/api/runs/${job.run}/page`), target: '_blank', rel: 'noopener' }, 'report'),
        job.error && h('span', { class: 'mistake' }, job.error),
      ),
    ),
  );
  if (busy) setTimeout(() => void showJobs().then(() => showHistory()), 1000);
}

// A slider for a number, around the value of the machine; a text for what is none.
function parameterControl(name: string, value: string): HTMLElement {
  const match = /^(\d+(?:\.\d+)?)(.*)$/.exec(wanted.set[name] ?? value);
  const base = /^(\d+(?:\.\d+)?)(.*)$/.exec(value);
  const change = (said: string, live: boolean) => {
    if (said === value) delete wanted.set[name];
    else wanted.set[name] = said;
    if (live) void evaluate(false);
  };
  if (!match || !base || Number(base[1]) <= 0) {
    const field: HTMLInputElement = h('input', { value: wanted.set[name] ?? value, change: () => change(field.value, true) });
    return h('label', { class: 'field' }, name, field);
  }
  const steps = [0.125, 0.25, 0.5, 1, 2, 4, 8].map((times) => Number(base[1]) * times).filter((v) => Number.isInteger(v) || !Number.isInteger(Number(base[1])));
  const at = Math.max(0, steps.findIndex((v) => v === Number(match[1])));
  const label = h('output', null, `${match[1]}${base[2]}`);
  const slider: HTMLInputElement = h('input', {
    type: 'range',
    min: 0,
    max: steps.length - 1,
    step: 1,
    value: at,
    'aria-label': name,
    input: () => {
      const said = `${steps[Number(slider.value)]}${base[2]}`;
      label.textContent = said;
      change(said, true);
    },
  });
  return h('div', { class: 'slider' }, h('span', null, name), label, slider);
}

async function showMachine(): Promise<void> {
  const found = object(await ask(`/api/machines/${encodeURIComponent(wanted.machine)}`));
  const parameters = Object.entries(object(found.parameters)).map(([name, value]) => [name, text(value)] as const);
  const editor: HTMLTextAreaElement = h('textarea', { 'aria-label': 'The machine as YAML', spellcheck: 'false' }, wanted.yaml || text(found.text));
  fill(
    places.machine,
    h('p', { class: 'quiet' }, text(found.description)),
    h(
      'details',
      { open: wanted.yaml !== '' },
      h('summary', null, wanted.yaml ? 'Edited machine' : 'Edit as YAML'),
      editor,
      h(
        'div',
        { class: 'row' },
        button('Use it', 'Check the text and use it', () =>
          void in_turn(async () => {
            await ask('/api/machines', editor.value);
            wanted.yaml = editor.value;
            wanted.set = {};
            fill(places.sliders);
            next = () => Promise.resolve(void evaluate(true));
          }),
        ),
        button('Back to the preset', 'Forget the changes', () => {
          wanted.yaml = '';
          void begin();
        }),
      ),
    ),
  );
  fill(places.sliders, wanted.yaml === '' && parameters.map(([name, value]) => parameterControl(name, value)));
}

function showNetworks(networks: Named[]): void {
  const send = (file: File) =>
    void in_turn(async () => {
      const kept = object(await ask(`/api/networks?name=${encodeURIComponent(file.name)}`, file));
      wanted.network = text(kept.network);
      networks.unshift({ name: wanted.network, description: file.name });
      showNetworks(networks);
      next = () => Promise.resolve(void evaluate(true));
    });
  const file: HTMLInputElement = h('input', { type: 'file', accept: '.onnx', hidden: true, change: () => file.files?.[0] && send(file.files[0]) });
  const drop: HTMLElement = h(
    'div',
    {
      class: 'drop',
      dragover: (event: DragEvent) => {
        event.preventDefault();
        drop.classList.add('over');
      },
      dragleave: () => drop.classList.remove('over'),
      drop: (event: DragEvent) => {
        event.preventDefault();
        drop.classList.remove('over');
        const dropped = event.dataTransfer?.files[0];
        if (dropped) send(dropped);
      },
    },
    'Drop an ONNX file here, or ',
    button('choose one', 'Choose an ONNX file', () => file.click()),
    file,
  );
  fill(
    places.networks,
    choice('Network', networks.map((n) => [n.name, n.name.startsWith('upload:') ? n.description : n.name]), wanted.network, (name) => {
      wanted.network = name;
    }),
    drop,
  );
}

async function begin(): Promise<void> {
  const [networks, machines] = await Promise.all([ask('/api/networks').then(named), ask('/api/machines').then(named)]);
  if (wanted.network.startsWith('upload:')) networks.unshift({ name: wanted.network, description: wanted.network.split('/').pop() ?? '' });
  showNetworks(networks);
  const batch: HTMLInputElement = h('input', { value: wanted.batch, inputmode: 'numeric', placeholder: 'the network’s own', change: () => (wanted.batch = batch.value.trim()) });
  const pairs = (names: string[], own: string): [string, string][] => names.map((name) => [name, name || own]);
  fill(
    page,
    h('header', { class: 'top' }, h('div', null, h('h1', null, 'MONET'), h('p', { class: 'quiet' }, 'A training step of a network on a machine'))),
    h(
      'div',
      { class: 'serve' },
      h(
        'form',
        {
          submit: (event: Event) => {
            event.preventDefault();
            void evaluate(true);
          },
        },
        places.networks,
        choice('Machine', machines.map((m) => [m.name, m.name]), wanted.machine, (name) => {
          wanted.machine = name;
          wanted.yaml = '';
          wanted.set = {};
          void in_turn(showMachine);
        }),
        places.machine,
        places.sliders,
        h('label', { class: 'field' }, 'Batch', batch),
        choice('Numbers', pairs(RECIPES, 'the machine’s or the network’s own'), wanted.precision, (value) => (wanted.precision = value)),
        choice('Optimizer', pairs(OPTIMIZERS, ''), wanted.optimizer, (value) => (wanted.optimizer = value)),
        choice('Lowering', pairs(LOWERINGS, 'as the machine runs it'), wanted.lowering, (value) => (wanted.lowering = value)),
        toggle('inference only', wanted.inference, (on) => (wanted.inference = on)),
        h('button', { type: 'submit', class: 'button', id: 'evaluate' }, 'Evaluate'),
        h(
          'div',
          { class: 'row' },
          button('Fuse', 'Search for stacks of operators', () => void search('fuse')),
          button('Checkpoint', 'Search for what to keep and recompute', () => void search('checkpoint')),
          button('Optimize', 'Search for plans', () => void search('optimize')),
        ),
        places.mistake,
      ),
      h('main', { id: 'main' }, places.words, places.result, places.chart, places.jobs, places.history),
    ),
  );
  await showMachine();
  await showHistory();
  await showJobs();
}

const page = document.getElementById('page') ?? document.body;
start();
begin().catch((problem: unknown) => {
  page.append(places.mistake);
  tell(problem);
});
