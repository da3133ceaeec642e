// Numbers as people read them: the rules of the program's terminal output (src/base/prefixes.h, src/report/units.h),
// with µ for micro.

const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
const toTenths = new Intl.NumberFormat('en-US', { maximumFractionDigits: 1 });

// As printf's %.{digits}g.
export function general(value: number, digits = 4): string {
  if (!Number.isFinite(value)) return '–';
  if (value === 0) return '0';
  const scientific = value.toExponential(digits - 1);
  const exponent = Number(scientific.slice(scientific.indexOf('e') + 1));
  if (exponent >= -4 && exponent < digits) return trimmed(value.toFixed(Math.max(0, digits - 1 - exponent)));
  const mantissa = trimmed(scientific.slice(0, scientific.indexOf('e')));
  return `${mantissa}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
}

function trimmed(text: string): string {
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}

function scaled(value: number, step: number, prefixes: string[]): string {
  if (!Number.isFinite(value)) return '–';
  const sign = value < 0 ? '-' : '';
  let size = Math.abs(value);
  let index = 0;
  while (size >= step && index + 1 < prefixes.length) {
    size /= step;
    ++index;
  }
  const number = index === 0 ? size.toFixed(0) : general(size);
  return `${sign}${number}${prefixes[index] === '' ? '' : ` ${prefixes[index]}`}`;
}

// "1.814 G", "12"
export function withPrefix(value: number): string {
  return scaled(value, 1000, ['', 'k', 'M', 'G', 'T', 'P']);
}

// "44.59 MiB", "512 B"
export function byteSize(value: number): string {
  return scaled(value, 1024, ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB']);
}

// "1,814,073,344"
export function grouped(value: number): string {
  return Number.isFinite(value) ? whole.format(value) : '–';
}

// "9,872,000", "12.5"
export function cyclesText(cycles: number): string {
  if (!(Math.abs(cycles) < 9e14)) return general(cycles);
  const tenths = Math.round(cycles * 10);
  if (tenths === 0 && cycles !== 0 && Math.abs(cycles) >= 1e-6) return general(cycles, 1);
  return toTenths.format(tenths / 10);
}

// "12.34 ms"
export function secondsText(seconds: number): string {
  const size = Math.abs(seconds);
  if (size >= 1) return `${general(seconds)} s`;
  if (size >= 1e-3) return `${general(seconds * 1e3)} ms`;
  return `${general(seconds * 1e6)} µs`;
}

// "22.13 mJ"
export function energyText(picojoules: number): string {
  if (!Number.isFinite(picojoules)) return '–';
  const units = ['pJ', 'nJ', 'µJ', 'mJ', 'J', 'kJ'];
  let value = picojoules;
  let unit = 0;
  for (; Math.abs(value) >= 999.95 && unit < 5; ++unit) value /= 1000;
  return `${general(value)} ${units[unit]}`;
}

export function powerText(watts: number): string {
  if (!Number.isFinite(watts)) return '–';
  return Math.abs(watts) >= 1 || watts === 0
    ? `${general(watts)} W`
    : Math.abs(watts) >= 1e-3
      ? `${general(watts * 1e3)} mW`
      : `${general(watts * 1e6)} µW`;
}

// "17.0%"
export function percent(share: number, digits = 1): string {
  return Number.isFinite(share) ? `${(share * 100).toFixed(digits)}%` : '–';
}

// "5.78×"
export function factor(value: number): string {
  return Number.isFinite(value) ? `${value >= 100 ? general(value, 3) : value.toFixed(2)}×` : '–';
}

// "+12.3%", "−4.0%"
export function change(a: number, b: number): string {
  if (a === b) return '±0%';
  if (!Number.isFinite(a) || !Number.isFinite(b) || a === 0) return '';
  const share = (b - a) / Math.abs(a);
  return `${share < 0 ? '−' : '+'}${(Math.abs(share) * 100).toFixed(1)}%`;
}

export function signed(text: string, value: number): string {
  return value > 0 ? `+${text}` : text.replace(/^-/, '−');
}

// How times are written: in seconds where the machine has a clock, else in cycles.
export interface Clock {
  hertz: number | null;
  text(cycles: number): string;
}

export function clockOf(hertz: number | null): Clock {
  if (hertz === null || !(hertz > 0))
    return { hertz: null, text: (cycles) => (Number.isFinite(cycles) ? `${cyclesText(cycles)} cycles` : '–') };
  return { hertz, text: (cycles) => secondsText(cycles / hertz) };
}

export type Unit = 'cycles' | 's' | 'pJ' | 'bytes' | 'mm2' | 'MAC' | '';

export function unitText(value: number, unit: string, clock?: Clock): string {
  if (!Number.isFinite(value)) return '–';
  switch (unit) {
    case 'cycles':
      return clock ? clock.text(value) : `${cyclesText(value)} cycles`;
    case 's':
      return secondsText(value);
    case 'pJ':
      return energyText(value);
    case 'bytes':
      return byteSize(value);
    case 'mm2':
      return `${general(value)} mm²`;
    default:
      return Math.abs(value) >= 1e4 ? withPrefix(value) : general(value);
  }
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${grouped(count)} ${count === 1 ? one : many}`;
}

// Marks of a time axis: one unit for all, as many digits as tell neighbours apart.
export function timeMarks(seconds: number[]): string[] {
  const largest = Math.max(...seconds.map(Math.abs), 0);
  const [scale, unit] =
    largest >= 1 ? [1, 's'] : largest >= 1e-3 ? [1e3, 'ms'] : largest >= 1e-6 ? [1e6, 'µs'] : [1e9, 'ns'];
  const step = seconds.length > 1 ? (seconds[1] - seconds[0]) * scale : largest * scale;
  const digits = step > 0 ? Math.min(9, Math.max(0, -Math.floor(Math.log10(step) + 1e-9))) : 0;
  return seconds.map((value) => `${(value * scale).toFixed(digits)} ${unit}`);
}
