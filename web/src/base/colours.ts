// Colours told apart by colour-blind readers (after Okabe and Ito), defined for light and dark in style/colours.css.
// Phases, roles and kinds of work have fixed ones, others are dealt out in turn.
import { colour, theme } from './theme';

const inTurn = ['blue', 'orange', 'green', 'pink', 'violet', 'red', 'sky', 'yellow', 'teal', 'brown', 'olive', 'grey'];

const named: Record<string, string> = {
  forward: 'blue',
  backward: 'orange',
  optimizer: 'green',
  input: 'sky',
  weight: 'blue',
  'master weight': 'teal',
  activation: 'orange',
  gradient: 'pink',
  'weight gradient': 'red',
  'optimizer state': 'green',
  statistic: 'yellow',
  constant: 'grey',
  workspace: 'brown',
  compute: 'blue',
  stall: 'orange',
  traffic: 'teal',
  recomputation: 'pink',
  paging: 'violet',
  waiting: 'grey',
  wait: 'grey',
  static: 'brown',
  load: 'sky',
  fill: 'sky',
  slowed: 'red',
  fetch: 'teal',
  'write back': 'violet',
  'core to core': 'yellow',
  transfer: 'teal',
  kept: 'blue',
  recomputed: 'pink',
  paged: 'violet',
  network: 'teal',
  'page in': 'violet',
  'page out': 'red',
  repeated: 'grey',
};

function hueOf(name: string, index: number): string {
  return named[name] ?? named[name.split(/[ :]/)[0]] ?? inTurn[index % inTurn.length];
}

// Of a phase, a role, a kind of work or a decision: for a canvas, as it is now.
export function namedColour(name: string, index = 0): string {
  return colour(`c-${hueOf(name, index)}`);
}

// The same for elements, which follow the theme by themselves.
export function styleColour(name: string, index = 0): string {
  return `var(--c-${hueOf(name, index)})`;
}

export function turnColour(index: number): string {
  return colour(`c-${inTurn[index % inTurn.length]}`);
}

export function turnStyle(index: number): string {
  return `var(--c-${inTurn[index % inTurn.length]})`;
}

// Many neighbours apart, as stacks are: hues a golden angle from each other.
export function manyColour(index: number): string {
  if (index < 0) return colour('c-grey');
  const dark = theme() === 'dark';
  return fromHue((index * 137.508 + 205) % 360, dark ? 0.5 : 0.48, (dark ? 0.6 : 0.44) + (index % 3) * 0.07);
}

function fromHue(hue: number, saturation: number, lightness: number): string {
  const reach = saturation * Math.min(lightness, 1 - lightness);
  const channel = (offset: number) => {
    const k = (offset + hue / 30) % 12;
    return Math.round(255 * (lightness - reach * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
  };
  return `#${[0, 8, 4].map((offset) => channel(offset).toString(16).padStart(2, '0')).join('')}`;
}

// From low to high, even in lightness (after viridis).
const stops = ['#440154', '#46327e', '#365c8d', '#277f8e', '#1fa187', '#4ac16d', '#a0da39', '#fde725'];

export function scaleColour(share: number): string {
  const at = Math.min(Math.max(share, 0), 1) * (stops.length - 1);
  const from = Math.min(Math.floor(at), stops.length - 2);
  const mix = at - from;
  const channel = (hex: string, offset: number) => parseInt(hex.slice(offset, offset + 2), 16);
  const mixed = [1, 3, 5].map((o) =>
    Math.round(channel(stops[from], o) * (1 - mix) + channel(stops[from + 1], o) * mix),
  );
  return `rgb(${mixed.join(' ')})`;
}

export const scaleGradient = `linear-gradient(90deg, ${stops.join(', ')})`;

// Words on a bar of this colour.
export function inkOn(background: string): string {
  const value = parseInt(background.slice(1), 16);
  const luminance = 0.299 * (value >> 16) + 0.587 * ((value >> 8) & 255) + 0.114 * (value & 255);
  return luminance < 140 ? '#ffffff' : '#111418';
}
