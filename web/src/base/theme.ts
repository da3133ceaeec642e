// Light or dark: as the system says, or as the reader chose; light on paper. Charts ask `colour` and register to be
// drawn anew.

export type Theme = 'light' | 'dark';

const key = 'monet-theme';
const listeners = new Set<() => void>();
const cache = new Map<string, string>();
let chosen: Theme | null = remembered();
let printing = false;

function remembered(): Theme | null {
  try {
    const value = localStorage.getItem(key);
    return value === 'light' || value === 'dark' ? value : null;
  } catch {
    return null;
  }
}

export function theme(): Theme {
  if (printing) return 'light';
  return chosen ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
}

export function choose(next: Theme): void {
  chosen = next;
  try {
    localStorage.setItem(key, next);
  } catch {
    // Pages opened from a file may have no storage; the choice holds until the page is closed.
  }
  apply();
}

export function onRedraw(listener: () => void): void {
  listeners.add(listener);
}

// A colour of the style sheet by its custom property: colour('text').
export function colour(name: string): string {
  let value = cache.get(name);
  if (value === undefined) {
    value = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim() || '#888888';
    cache.set(name, value);
  }
  return value;
}

function apply(): void {
  document.documentElement.dataset.theme = theme();
  cache.clear();
  for (const listener of listeners) listener();
}

function print(on: boolean): void {
  printing = on;
  document.documentElement.classList.toggle('printing', on);
  apply();
}

export function start(): void {
  apply();
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', apply);
  addEventListener('beforeprint', () => print(true));
  addEventListener('afterprint', () => print(false));
}
