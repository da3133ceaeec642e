// The server's addresses, with the token of the page's own URL.
import { list, number, object, text } from '../base/read';

const token = new URLSearchParams(location.search).get('token') ?? '';

export class Mistake extends Error {
  constructor(
    message: string,
    readonly place: string,
    readonly advice: string,
  ) {
    super(message);
  }
  get line(): number {
    return Number(/:(\d+):\d+$/.exec(this.place)?.[1] ?? 0);
  }
}

export function address(path: string): string {
  return `${path}${path.includes('?') ? '&' : '?'}token=${token}`;
}

export async function ask(path: string, body?: string | Blob): Promise<unknown> {
  const answer = await fetch(path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'X-Monet-Token': token },
    body,
  });
  const said: unknown = await answer.json();
  if (answer.ok) return said;
  const error = object(object(said).error);
  throw new Mistake(text(error.message), text(error.place), text(error.advice));
}

export interface Named {
  name: string;
  description: string;
}
export const named = (value: unknown): Named[] =>
  list(value, (one) => ({ name: text(object(one).name), description: text(object(one).description) }));

export interface RunRow {
  id: number;
  at: string;
  command: string;
  title: string;
  words: string;
  question: Record<string, unknown>;
  latency_s: number;
  energy_pj: number;
  peak_bytes: number;
}
export const runRows = (value: unknown): RunRow[] =>
  list(value, (one) => {
    const run = object(one);
    return {
      id: number(run.id),
      at: text(run.at),
      command: text(run.command),
      title: text(run.title),
      words: text(run.words),
      question: object(run.question ?? {}),
      latency_s: number(run.latency_s),
      energy_pj: number(run.energy_pj),
      peak_bytes: number(run.peak_bytes),
    };
  });

export interface JobRow {
  id: number;
  state: string;
  title: string;
  what: string;
  done: number;
  all: number;
  run: number;
  error: string;
}
export const jobRows = (value: unknown): JobRow[] =>
  list(value, (one) => {
    const job = object(one);
    const error = object(job.error ?? {});
    return {
      id: number(job.id),
      state: text(job.state),
      title: `${text(job.words)}`,
      what: text(job.what),
      done: number(job.done),
      all: number(job.all),
      run: number(job.run),
      error: job.error === undefined ? '' : `${text(error.place)}: ${text(error.message)} (${text(error.advice)})`,
    };
  });
