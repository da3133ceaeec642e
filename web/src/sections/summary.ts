// The answer first: cards of latency, energy, power and memory, whether the step fits, and what binds it.
import { h, type Child } from '../base/dom';
import { styleColour } from '../base/colours';
import {
  byteSize,
  cyclesText,
  energyText,
  factor,
  grouped,
  percent,
  powerText,
  secondsText,
  withPrefix,
} from '../base/units';
import { shares } from '../charts/bars';
import { table } from '../charts/table';
import type { Evaluation, Memory } from '../decode/result';

export function summarySection(evaluation: Evaluation): Child {
  const { result } = evaluation;
  return [
    verdict(evaluation),
    diagnosis(evaluation),
    h(
      'div',
      { class: 'cards' },
      latencyCard(evaluation),
      energyCard(evaluation),
      memoryCard(evaluation),
      workCard(evaluation),
    ),
    result.options.length > 0 && optionsTable(evaluation),
  ];
}

function verdict({ result }: Evaluation): Child {
  const numbers = result.recipe_text || result.recipe;
  const what = `${result.mode === 'training' ? 'A training step' : 'Inference'}${result.batch > 0 ? `, batch ${grouped(result.batch)}` : ''}${result.micro_batches > 1 ? ` in ${grouped(result.micro_batches)} micro-batches` : ''}${result.objective ? `, mapped for ${result.objective}` : ''}${numbers ? `; numbers: ${numbers}` : ''}${result.reach_text ? `; model: ${result.reach_text}` : ''}`;
  return h(
    'p',
    { class: 'verdict' },
    h('span', { class: `badge ${result.fits ? 'good' : 'bad'}` }, result.fits ? '✓ fits' : '✗ does not fit'),
    h('span', null, what),
    !result.fits && result.does_not_fit !== '' && h('strong', { class: 'more' }, result.does_not_fit),
  );
}

function diagnosis({ result }: Evaluation): Child {
  return (
    result.diagnosis.length > 0 &&
    h('ul', { class: 'diagnosis' }, ...result.diagnosis.map((sentence) => h('li', null, sentence)))
  );
}

function card(title: string, value: string, under: Child, ...rest: Child[]): HTMLElement {
  return h(
    'div',
    { class: 'card' },
    h('h3', null, title),
    h('div', { class: 'big' }, value),
    under && h('div', { class: 'under' }, under),
    ...rest,
  );
}

function against(label: string, value: number, text: string, note = ''): Child {
  return (
    Number.isFinite(value) &&
    h(
      'div',
      { class: 'against', title: note || null },
      h('span', null, label),
      h('span', null, h('b', null, factor(value)), ` ${text}`),
    )
  );
}

function latencyCard({ result, clock }: Evaluation): HTMLElement {
  const seconds = result.latency_s ?? (clock.hertz === null ? null : result.latency_cycles / clock.hertz);
  const parts = Object.entries(result.latency_by).map(([name, value], k) => ({
    name,
    value,
    colour: styleColour(name, k),
  }));
  const bound = result.bound.latency_cycles;
  return card(
    'Latency',
    seconds === null ? `${withPrefix(result.latency_cycles)} cycles` : secondsText(seconds),
    `${cyclesText(result.latency_cycles)} cycles${clock.hertz ? ` at ${withPrefix(clock.hertz)}Hz` : ''}`,
    parts.length > 0 && shares(parts, clock.text, undefined, 6),
    against(
      'vs the bound',
      bound ? result.latency_cycles / bound : NaN,
      bound ? `of ${clock.text(bound)}` : '',
      result.bound.by,
    ),
    result.inference &&
      against(
        'vs inference',
        result.latency_cycles / result.inference.latency_cycles,
        `of ${clock.text(result.inference.latency_cycles)}`,
      ),
    result.bound.by &&
      h('div', { class: 'binds' }, h('span', null, 'the bound is set by'), h('b', null, result.bound.by)),
  );
}

function energyCard({ result, clock }: Evaluation): HTMLElement {
  const seconds = result.latency_s ?? (clock.hertz === null ? NaN : result.latency_cycles / clock.hertz);
  const watts = (result.energy_pj * 1e-12) / seconds;
  const parts = Object.entries(result.energy_by).map(([name, value], k) => ({
    name,
    value,
    colour: styleColour(name, k),
  }));
  const bound = result.bound.energy_pj;
  return card(
    'Energy',
    energyText(result.energy_pj),
    Number.isFinite(watts) ? `${powerText(watts)} on average` : '',
    parts.length > 0 && shares(parts, energyText, undefined, 6),
    against('vs the bound', bound ? result.energy_pj / bound : NaN, bound ? `of ${energyText(bound)}` : ''),
    result.inference &&
      against(
        'vs inference',
        result.energy_pj / result.inference.energy_pj,
        `of ${energyText(result.inference.energy_pj)}`,
      ),
  );
}

// The memory that matters: the fullest of those with addresses, else the one with most in it.
export function homeMemory(memories: Memory[]): Memory | null {
  const used = memories.filter((memory) => peakOf(memory) > 0);
  const packed = used.filter((memory) => memory.packed_peak_bytes > 0);
  const ranked = (packed.length > 0 ? packed : used).slice().sort((a, b) => peakOf(b) - peakOf(a));
  return ranked[0] ?? null;
}

export function peakOf(memory: Memory): number {
  return memory.packed_peak_bytes > 0 ? memory.packed_peak_bytes : memory.live_peak_bytes;
}

function memoryCard({ result }: Evaluation): HTMLElement {
  const home = homeMemory(result.memories);
  if (!home) return card('Peak memory', '–', 'no memory is listed');
  const peak = peakOf(home);
  const parts = Object.entries(home.peak_by_role).map(([name, value], k) => ({
    name,
    value,
    colour: styleColour(name, k),
  }));
  parts.sort((a, b) => b.value - a.value);
  const others = result.memories
    .filter((memory) => memory !== home && memory.capacity_bytes > 0 && peakOf(memory) / memory.capacity_bytes > 0.9)
    .map((memory) => `${memory.name} ${percent(peakOf(memory) / memory.capacity_bytes, 0)}`);
  return card(
    `Peak memory of ${home.name}`,
    byteSize(peak),
    home.capacity_bytes > 0 ? `${percent(peak / home.capacity_bytes)} of ${byteSize(home.capacity_bytes)}` : '',
    parts.length > 0 && shares(parts, byteSize, undefined, 5),
    result.inference &&
      against('vs inference', peak / result.inference.peak_bytes, `of ${byteSize(result.inference.peak_bytes)}`),
    others.length > 0 &&
      h(
        'div',
        { class: 'under spaced' },
        `nearly full too: ${others.slice(0, 4).join(', ')}${others.length > 4 ? ` and ${others.length - 4} more` : ''}`,
      ),
  );
}

function workCard({ result, clock }: Evaluation): HTMLElement {
  const critical = Object.entries(result.critical_by_kind)
    .filter(([, value]) => value > 0)
    .sort((a, b) => b[1] - a[1]);
  const rows: [string, string][] = [
    ['operators in stacks', `${grouped(result.nodes)} in ${grouped(result.stacks)}`],
    ['tiles, transfers', `${grouped(result.tiles)}, ${grouped(result.transfers)}`],
    ['parameters', withPrefix(result.parameters)],
    ['saved for backward', byteSize(result.saved_bytes)],
    ['of the machine’s peak', percent(result.utilization)],
  ];
  return card(
    'Work',
    `${withPrefix(result.macs)}${withPrefix(result.macs).includes(' ') ? '' : ' '}MAC`,
    result.phases
      .filter((phase) => phase.macs > 0)
      .map((phase) => `${phase.phase} ${withPrefix(phase.macs)}`)
      .join(', '),
    h(
      'div',
      { class: 'card-rows' },
      rows
        .filter(([, value]) => !value.startsWith('–'))
        .map(([name, value]) => h('div', { class: 'against' }, h('span', null, name), h('span', null, value))),
    ),
    critical.length > 0 &&
      h(
        'div',
        { class: 'binds' },
        h('span', null, 'the critical path is'),
        h(
          'b',
          null,
          critical
            .slice(0, 3)
            .map(([name, value]) => `${name} ${percent(value / result.latency_cycles, 0)}`)
            .join(', '),
        ),
      ),
    clock.hertz === null && h('div', { class: 'under' }, 'The machine has no clock: times are in cycles.'),
  );
}

function optionsTable({ result, clock }: Evaluation): HTMLElement {
  const made = table({
    label: result.fits ? 'What would be better' : 'What would fit',
    rows: result.options,
    columns: [
      { name: 'option', value: (o) => o.what },
      {
        name: 'fits',
        value: (o) => (o.fits ? 'yes' : 'no'),
        show: (o) => h('span', { class: `badge ${o.fits ? 'good' : 'bad'}` }, o.fits ? '✓ fits' : '✗'),
      },
      {
        name: 'latency',
        value: (o) => o.latency_cycles,
        show: (o) => (o.latency_cycles > 0 ? clock.text(o.latency_cycles) : '–'),
      },
      { name: 'energy', value: (o) => o.energy_pj, show: (o) => (o.energy_pj > 0 ? energyText(o.energy_pj) : '–') },
      { name: 'peak', value: (o) => o.peak_bytes, show: (o) => (o.peak_bytes > 0 ? byteSize(o.peak_bytes) : '–') },
      { name: 'why', value: (o) => o.reason },
    ],
  });
  return h('div', { class: 'panel' }, h('h3', null, result.fits ? 'What would be better' : 'What would make it fit'), made.element);
}
