// A part of the page with a heading and a place in the navigation. What goes wrong inside is said in its place.
import { h, type Child } from '../base/dom';
import { Missing } from '../base/read';

export interface Section {
  id: string;
  title: string;
  element: HTMLElement;
}

export function section(id: string, title: string, about: Child, build: () => Child): Section {
  const element = h(
    'section',
    { id, class: 'section', 'aria-labelledby': `${id}-title` },
    h('h2', { id: `${id}-title` }, h('a', { href: `#${id}`, class: 'anchor' }, title)),
    about && h('p', { class: 'about' }, about),
    guarded(build),
  );
  return { id, title, element };
}

export function guarded(build: () => Child): Child {
  try {
    return h('div', { class: 'content' }, build());
  } catch (problem) {
    return notice(problem);
  }
}

export function notice(problem: unknown): HTMLElement {
  const message = problem instanceof Error ? problem.message : String(problem);
  if (problem instanceof Missing) return h('p', { class: 'notice', role: 'note' }, message);
  return h('p', { class: 'notice warning', role: 'note' }, `This part of the data could not be shown: ${message}`);
}

export function panel(title: Child, ...children: Child[]): HTMLElement {
  return h('div', { class: 'panel' }, title && h('h3', null, title), ...children);
}

// Something inside a panel that is built apart, so that a fault stays there.
export function guardedPanel(title: Child, build: () => Child): HTMLElement {
  return h('div', { class: 'panel' }, title && h('h3', null, title), guarded(build));
}
