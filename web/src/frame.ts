// The page around the sections: title, navigation, light and dark, tabs where two evaluations are compared.
import { button, fill, h } from './base/dom';
import { choose, onRedraw, theme } from './base/theme';
import type { Section } from './charts/section';
import type { Evaluation } from './decode/result';

export function frame(
  title: string,
  program: string,
  first: Section[],
  evaluations: Evaluation[],
  sectionsOf: (evaluation: Evaluation, prefix: string) => Section[],
): DocumentFragment {
  const navigation = h('nav', { class: 'navigation', 'aria-label': 'Sections' });
  const main = h(
    'main',
    { id: 'main' },
    first.map((section) => section.element),
  );
  const tabs = evaluations.length > 1 ? makeTabs(evaluations, sectionsOf, (sections) => navigate(sections)) : null;
  const links = (sections: Section[]) => sections.map((section) => h('a', { href: `#${section.id}` }, section.title));
  const navigate = (sections: Section[]) => {
    fill(
      navigation,
      links(first),
      first.length > 0 && sections.length > 0 && h('span', { class: 'rule' }),
      links(sections),
    );
    follow(navigation, main);
  };

  if (tabs) main.append(tabs);
  else {
    const sections = evaluations.flatMap((evaluation) => sectionsOf(evaluation, ''));
    main.append(...sections.map((section) => section.element));
    navigate(sections);
  }
  const page = document.createDocumentFragment();
  page.append(
    h('a', { class: 'skip', href: '#main' }, 'Skip to the results'),
    h(
      'header',
      { class: 'top' },
      h('div', null, h('h1', null, title), h('p', { class: 'quiet' }, program)),
      h(
        'div',
        { class: 'tools' },
        themeButton(),
        button('Print', 'Print, or save as PDF', () => print()),
      ),
    ),
    h('div', { class: 'layout' }, navigation, main),
  );
  return page;
}

function themeButton(): HTMLElement {
  const made = button('', 'Light or dark', () => choose(theme() === 'dark' ? 'light' : 'dark'));
  const label = () => (made.textContent = theme() === 'dark' ? 'Light' : 'Dark');
  label();
  onRedraw(label);
  return made;
}

// Both evaluations one after another on paper; one at a time on a screen, built when it is first looked at.
function makeTabs(
  evaluations: Evaluation[],
  sectionsOf: (evaluation: Evaluation, prefix: string) => Section[],
  changed: (sections: Section[]) => void,
): HTMLElement {
  const letters = ['A', 'B', 'C', 'D'];
  const letter = (k: number) => letters[k] ?? String(k + 1);
  const panels = evaluations.map((evaluation, k) =>
    h(
      'div',
      { role: 'tabpanel', id: `panel-${k}`, 'aria-labelledby': `tab-${k}`, hidden: k > 0 },
      h('h2', { class: 'of' }, `${letter(k)}: ${evaluation.name}`),
    ),
  );
  const built: (Section[] | null)[] = evaluations.map(() => null);
  const build = (k: number) => {
    const made = (built[k] ??= sectionsOf(evaluations[k], `${letter(k).toLowerCase()}-`));
    if (made.length > 0 && !made[0].element.isConnected) panels[k].append(...made.map((section) => section.element));
    return made;
  };
  const buttons = evaluations.map((evaluation, k) =>
    h(
      'button',
      {
        type: 'button',
        role: 'tab',
        id: `tab-${k}`,
        'aria-controls': `panel-${k}`,
        click: () => show(k),
        keydown: (event: KeyboardEvent) => {
          const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
          if (step === 0) return;
          const next = (k + step + evaluations.length) % evaluations.length;
          show(next);
          buttons[next].focus();
        },
      },
      h('span', { class: 'badge' }, letter(k)),
      ` ${evaluation.name}`,
    ),
  );
  const show = (chosen: number) => {
    panels.forEach((panel, k) => (panel.hidden = k !== chosen));
    buttons.forEach((tab, k) => {
      tab.setAttribute('aria-selected', String(k === chosen));
      tab.tabIndex = k === chosen ? 0 : -1;
    });
    changed(build(chosen));
  };
  addEventListener('beforeprint', () => evaluations.forEach((_, k) => build(k)), { capture: true });
  queueMicrotask(() => show(0));
  return h(
    'div',
    { class: 'tabs' },
    h('div', { class: 'tablist', role: 'tablist', 'aria-label': 'Evaluations' }, buttons),
    panels,
  );
}

// Marks the section that is being read.
let observer: IntersectionObserver | null = null;

function follow(navigation: HTMLElement, main: HTMLElement): void {
  observer?.disconnect();
  observer = new IntersectionObserver(
    (entries) => {
      for (const entry of entries) {
        if (!entry.isIntersecting) continue;
        for (const link of navigation.querySelectorAll('a')) {
          if (link.hash === `#${entry.target.id}`) link.setAttribute('aria-current', 'true');
          else link.removeAttribute('aria-current');
        }
      }
    },
    { rootMargin: '-15% 0px -75% 0px' },
  );
  for (const section of main.querySelectorAll('section')) observer.observe(section);
}
