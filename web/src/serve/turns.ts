// One thing is asked at a time; of what was asked for meanwhile, the last. What goes wrong is told in one place.
import { h } from '../base/dom';
import { Mistake } from './ask';

export const mistake = h('p', { class: 'mistake', role: 'alert' });

export function tell(problem: unknown): void {
  mistake.textContent =
    problem instanceof Mistake
      ? `${problem.place}: ${problem.message}${problem.advice ? `\n${problem.advice}` : ''}`
      : `The server does not answer: ${problem instanceof Error ? problem.message : String(problem)}`;
  if (problem instanceof Mistake && problem.line > 0) mark(problem.line);
}

// The line of a mistake is selected in the editor.
function mark(line: number): void {
  const editor = document.querySelector('textarea');
  if (!editor) return;
  editor.closest('details')?.setAttribute('open', '');
  const lines = editor.value.split('\n');
  const begin = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0);
  editor.focus();
  editor.setSelectionRange(begin, begin + (lines[line - 1]?.length ?? 0));
}

let running = false;
let next: (() => Promise<void>) | null = null;

export async function in_turn(work: () => Promise<void>): Promise<void> {
  if (running) {
    next = work;
    return;
  }
  running = true;
  document.body.setAttribute('aria-busy', 'true');
  try {
    await work();
    mistake.textContent = '';
  } catch (problem) {
    tell(problem);
  }
  running = false;
  document.body.removeAttribute('aria-busy');
  const following = next;
  next = null;
  if (following) await in_turn(following);
}

// After what runs now.
export function afterwards(work: () => Promise<void>): void {
  next = work;
}
