// Elements in one expression: h('p', { class: 'note' }, 'text', child).

export type Child = Node | string | number | null | undefined | false | Child[];
type Value = string | number | boolean | null | undefined | ((event: never) => void);

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Record<string, Value> | null = null,
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === 'function') element.addEventListener(name, value as EventListener);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  append(element, children);
  return element;
}

export function append(element: Element, children: Child): void {
  if (Array.isArray(children)) for (const child of children) append(element, child);
  else if (children !== null && children !== undefined && children !== false) {
    element.append(typeof children === 'number' ? String(children) : children);
  }
}

export function fill(element: Element, ...children: Child[]): void {
  element.replaceChildren();
  append(element, children);
}

// A choice among named values: label and drop-down list.
export function choice(
  label: string,
  options: [value: string, text: string][],
  chosen: string,
  changed: (value: string) => void,
): HTMLElement {
  const list = h(
    'select',
    { 'aria-label': label, change: () => changed(list.value) },
    options.map(([value, text]) => h('option', { value, selected: value === chosen }, text)),
  );
  return h('label', { class: 'control' }, h('span', null, label), list);
}

export function toggle(label: string, on: boolean, changed: (on: boolean) => void): HTMLElement {
  const box: HTMLInputElement = h('input', { type: 'checkbox', checked: on, change: () => changed(box.checked) });
  return h('label', { class: 'control switch' }, box, h('span', null, label));
}

export function button(text: string, label: string, pressed: () => void, kind = ''): HTMLButtonElement {
  return h(
    'button',
    { type: 'button', class: `button ${kind}`, 'aria-label': label, title: label, click: pressed },
    text,
  );
}

export function searchBox(
  label: string,
  changed: (text: string) => void,
  entered: () => void = () => undefined,
): HTMLInputElement {
  const box: HTMLInputElement = h('input', {
    type: 'search',
    class: 'search',
    placeholder: label,
    'aria-label': label,
    spellcheck: 'false',
    input: () => changed(box.value),
    keydown: (event: KeyboardEvent) => {
      if (event.key === 'Enter') entered();
    },
  });
  return box;
}

export function copyButton(text: () => string): HTMLButtonElement {
  const made = button('Copy', 'Copy to the clipboard', () => {
    const done = () => {
      made.textContent = 'Copied';
      setTimeout(() => (made.textContent = 'Copy'), 1500);
    };
    // Pages opened from a file may have no clipboard: fall back to a selection.
    if (navigator.clipboard) navigator.clipboard.writeText(text()).then(done, () => copyBySelection(text(), done));
    else copyBySelection(text(), done);
  });
  return made;
}

function copyBySelection(text: string, done: () => void): void {
  const area = h('textarea', { style: 'position:fixed;opacity:0' });
  area.value = text;
  document.body.append(area);
  area.select();
  if (document.execCommand('copy')) done();
  area.remove();
}

export function download(name: string, text: string): void {
  const link = h('a', { href: URL.createObjectURL(new Blob([text], { type: 'text/plain' })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// Lists of names can be long: the first few, the rest behind a fold.
export function names(list: readonly string[], most = 12): Child {
  const items = (some: readonly string[]) => some.map((name) => h('code', { class: 'name' }, name));
  if (list.length <= most) return h('div', { class: 'names' }, items(list));
  return h(
    'details',
    { class: 'fold' },
    h('summary', null, h('span', { class: 'names' }, items(list.slice(0, most)), ` and ${list.length - most} more`)),
    h('div', { class: 'names' }, items(list.slice(most))),
  );
}
