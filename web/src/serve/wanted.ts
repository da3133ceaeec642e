// What is asked for next, and the links that open a view again.
import { object, text } from '../base/read';
import { h } from '../base/dom';
import { copyButton } from '../base/dom';

export type Question = Record<string, unknown>;

export const wanted = {
  network: 'resnet18-cifar',
  machine: 'edge_tpu',
  yaml: '', // instead of the preset, when it is edited
  set: {} as Record<string, string>,
  batch: '',
  precision: '',
  optimizer: 'adam',
  lowering: '',
  inference: false,
  plan: '',
};

export function question(): Question {
  const asked: Question = { network: wanted.network, optimizer: wanted.optimizer };
  if (wanted.yaml) asked.machine_yaml = wanted.yaml;
  else asked.machine = wanted.machine;
  if (Object.keys(wanted.set).length > 0) asked.set = wanted.set;
  const batch = Number(wanted.batch);
  if (wanted.batch !== '') asked.batch = Number.isInteger(batch) ? batch : wanted.batch;
  if (wanted.precision) asked.precision = wanted.precision;
  if (wanted.lowering) asked.lowering = wanted.lowering;
  if (wanted.inference) asked.inference = true;
  if (wanted.plan) asked.plan = wanted.plan;
  return asked;
}

export function take(asked: Question): void {
  wanted.network = text(asked.network, wanted.network);
  wanted.machine = text(asked.machine, wanted.machine);
  wanted.yaml = text(asked.machine_yaml);
  wanted.set = Object.fromEntries(Object.entries(object(asked.set ?? {})).map(([k, v]) => [k, String(v)]));
  wanted.batch = asked.batch === undefined ? '' : String(asked.batch);
  wanted.precision = text(asked.precision);
  wanted.optimizer = text(asked.optimizer, 'adam');
  wanted.lowering = text(asked.lowering);
  wanted.inference = asked.inference === true;
  wanted.plan = text(asked.plan);
}

// The part of the address after #: what a view shows.
export type View = { kind: 'ask'; asked: Question } | { kind: 'run' | 'job'; id: number } | { kind: 'compare'; ids: number[] };

export function hashOf(view: View): string {
  if (view.kind === 'ask') return `#ask=${encodeURIComponent(JSON.stringify(view.asked))}`;
  if (view.kind === 'compare') return `#compare=${view.ids.join(',')}`;
  return `#${view.kind}=${view.id}`;
}

export function viewOf(hash: string): View | null {
  const found = /^#(ask|run|job|compare)=(.+)$/.exec(hash);
  if (!found) return null;
  if (found[1] === 'ask') {
    try {
      return { kind: 'ask', asked: object(JSON.parse(decodeURIComponent(found[2]))) };
    } catch {
      return null;
    }
  }
  const ids = found[2].split(',').map(Number).filter(Number.isInteger);
  if (found[1] === 'compare') return ids.length > 1 ? { kind: 'compare', ids } : null;
  return ids.length === 1 ? { kind: found[1] as 'run' | 'job', id: ids[0] } : null;
}

// The command that makes a view, and the link that opens it again.
export function made_by(words: string, view: View): HTMLElement {
  const link = `${location.pathname}${location.search}${hashOf(view)}`;
  return h(
    'div',
    { class: 'made-by' },
    h('code', { class: 'words' }, words),
    h(
      'div',
      { class: 'row' },
      copyButton(() => words),
      h('a', { class: 'view-link', href: link, title: 'Opens this view again; the token in it lets whoever has it ask' }, 'link to this view'),
    ),
  );
}
