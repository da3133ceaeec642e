// The page of `monet serve`: a network, a machine, its sliders; results at once, searches in the background, history.
import { button, choice, fill, h, toggle } from '../base/dom';
import { object, text, texts } from '../base/read';
import { start } from '../base/theme';
import { decodeEvaluation } from '../decode/result';
import { homeMemory, peakOf, summarySection } from '../sections/summary';
import { ask, named, type Named } from './ask';
import { begin_job, exploreForm, frontPlace, jobsPlace, showFront, showJobs } from './jobs';
import { machinePlace, showMachine, sliderPlace } from './machine';
import { pointsChart, type Point } from './points';
import { historyPlace, showCompared, showHistory, showRun } from './runs';
import { afterwards, in_turn, mistake, tell } from './turns';
import { hashOf, made_by, question, take, viewOf, wanted, type Question } from './wanted';

const OPTIMIZERS = ['adam', 'adamw', 'sgd', 'momentum', 'nesterov', 'adafactor', 'lion', 'adam8bit'];
const LOWERINGS = ['', 'eager', 'compiled', 'nests'];

const points: Point[] = [];
const places = { networks: h('div'), result: h('div', { id: 'result' }), chart: h('div', { id: 'tried' }) };

const history_again = (asked: Question) => void open_question(asked, true);
const refresh = () => showHistory(history_again);

// What was kept for a plan that was searched is evaluated by it.
const evaluate = (keep: boolean) =>
  in_turn(async () => {
    const asked = question();
    const answer = object(await ask(`/api/evaluate${keep ? '' : '?keep=no'}`, JSON.stringify(asked)));
    const evaluation = decodeEvaluation({ name: '', result: answer.result });
    const home = homeMemory(evaluation.result.memories);
    points.push({
      latency_s: evaluation.result.latency_s ?? 0,
      energy_pj: evaluation.result.energy_pj,
      peak_bytes: home ? peakOf(home) : 0,
      label: text(answer.words),
      open: () => void open_question(asked, false),
    });
    if (points.length > 50) points.shift();
    history.replaceState(null, '', hashOf({ kind: 'ask', asked }));
    fill(places.result, made_by(text(answer.words), { kind: 'ask', asked }), summarySection(evaluation));
    fill(places.chart, h('h3', null, 'Tried so far: a click on a point goes back to it'), pointsChart(points));
    if (keep) await refresh();
  });

const search = (command: string) => void begin_job({ ...question(), command }, refresh);

async function open_question(asked: Question, keep: boolean): Promise<void> {
  take(asked);
  await begin();
  await evaluate(keep);
}

function showNetworks(networks: Named[]): void {
  const send = (file: File) =>
    void in_turn(async () => {
      const kept = object(await ask(`/api/networks?name=${encodeURIComponent(file.name)}`, file));
      wanted.network = text(kept.network);
      wanted.plan = '';
      networks.unshift({ name: wanted.network, description: file.name });
      showNetworks(networks);
      afterwards(() => Promise.resolve(void evaluate(true)));
    });
  const file: HTMLInputElement = h('input', {
    type: 'file',
    accept: '.onnx',
    hidden: true,
    change: () => file.files?.[0] && send(file.files[0]),
  });
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
  const shown = (n: Named): [string, string] => [n.name, n.name.startsWith('upload:') ? n.description : n.name];
  fill(
    places.networks,
    choice('Network', networks.map(shown), wanted.network, (name) => {
      wanted.network = name;
      wanted.plan = '';
    }),
    drop,
  );
}

function settings(recipes: string[]): (HTMLElement | false)[] {
  const batch: HTMLInputElement = h('input', {
    value: wanted.batch,
    inputmode: 'numeric',
    placeholder: 'the network’s own',
    change: () => (wanted.batch = batch.value.trim()),
  });
  const pairs = (names: string[], own: string): [string, string][] => names.map((name) => [name, name || own]);
  return [
    h('label', { class: 'field' }, 'Batch', batch),
    choice('Numbers', pairs(['', ...recipes], 'the machine’s or the network’s own'), wanted.precision, (value) => (wanted.precision = value)),
    choice('Optimizer', pairs(OPTIMIZERS, ''), wanted.optimizer, (value) => (wanted.optimizer = value)),
    choice('Lowering', pairs(LOWERINGS, 'as the machine runs it'), wanted.lowering, (value) => (wanted.lowering = value)),
    toggle('inference only', wanted.inference, (on) => (wanted.inference = on)),
    wanted.plan !== '' &&
      h(
        'div',
        { class: 'row' },
        h('span', { class: 'badge' }, 'by a plan'),
        button('forget it', 'Evaluate without the plan', () => {
          wanted.plan = '';
          void in_turn(begin);
        }),
      ),
  ];
}

async function begin(): Promise<void> {
  const [networks, machines, spaces, recipes] = await Promise.all([
    ask('/api/networks').then(named),
    ask('/api/machines').then(named),
    ask('/api/spaces').then(named),
    ask('/api/recipes').then(texts),
  ]);
  if (wanted.network.startsWith('upload:'))
    networks.unshift({ name: wanted.network, description: wanted.network.split('/').pop() ?? '' });
  showNetworks(networks);
  fill(
    page,
    h(
      'header',
      { class: 'top' },
      h('div', null, h('h1', null, 'MONET'), h('p', { class: 'quiet' }, 'A training step of a network on a machine')),
    ),
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
          wanted.plan = '';
          void in_turn(() => showMachine(evaluate));
        }),
        machinePlace,
        sliderPlace,
        settings(recipes),
        h('button', { type: 'submit', class: 'button', id: 'evaluate' }, 'Evaluate'),
        h(
          'div',
          { class: 'row' },
          button('Fuse', 'Search for stacks of operators', () => search('fuse')),
          button('Checkpoint', 'Search for what to keep and recompute', () => search('checkpoint')),
          button('Optimize', 'Search for plans', () => search('optimize')),
        ),
        exploreForm(spaces, refresh),
        mistake,
      ),
      h('main', { id: 'main' }, places.result, places.chart, frontPlace, jobsPlace, historyPlace),
    ),
  );
  await showMachine(evaluate);
  await refresh();
  await showJobs(refresh);
}

// What the address names; without, what a newcomer can look at first.
async function open(): Promise<void> {
  const view = viewOf(location.hash);
  if (view?.kind === 'ask') return open_question(view.asked, false);
  if (!view) return evaluate(false);
  await in_turn(async () => {
    if (view.kind === 'run') await showRun(view.id, places.result);
    else if (view.kind === 'compare') await showCompared(view.ids, places.result);
    else await showFront(view.id);
  });
  (view.kind === 'job' ? frontPlace : places.result).scrollIntoView();
}

const page = document.getElementById('page') ?? document.body;
start();
addEventListener('hashchange', () => void open());
begin()
  .then(open)
  .catch((problem: unknown) => {
    page.append(mistake);
    tell(problem);
  });
