// One box beside the pointer that says what is under it.
import { fill, h, type Child } from '../base/dom';

const box = h('div', { class: 'tooltip', role: 'status', hidden: true });

export function showTooltip(event: { clientX: number; clientY: number }, ...content: Child[]): void {
  if (!box.isConnected) document.body.append(box);
  fill(box, ...content);
  box.hidden = false;
  const size = box.getBoundingClientRect();
  const left = event.clientX + 16 + size.width > innerWidth ? event.clientX - size.width - 12 : event.clientX + 16;
  const top = event.clientY + 16 + size.height > innerHeight ? event.clientY - size.height - 12 : event.clientY + 16;
  box.style.left = `${Math.max(4, left)}px`;
  box.style.top = `${Math.max(4, top)}px`;
}

export function hideTooltip(): void {
  box.hidden = true;
}

// Names and values in two columns; pairs with an empty value are left out.
export function facts(pairs: [string, Child][]): HTMLElement {
  return h(
    'dl',
    { class: 'facts' },
    pairs
      .filter(([, value]) => value !== '' && value !== null && value !== undefined)
      .map(([name, value]) => [h('dt', null, name), h('dd', null, value)]),
  );
}

export function swatch(colour: string): HTMLElement {
  return h('span', { class: 'swatch', style: `background:${colour}` });
}
