// Values of unknown JSON, whatever it holds: what is absent or of another type becomes a stand-in that charts leave out.

export type Unknown = Record<string, unknown>;

export function object(value: unknown): Unknown {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Unknown) : {};
}

export function number(value: unknown, otherwise = NaN): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : otherwise;
}

export function nullable(value: unknown): number | null {
  const found = number(value);
  return Number.isNaN(found) ? null : found;
}

export function text(value: unknown, otherwise = ''): string {
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : otherwise;
}

export function list<T>(value: unknown, item: (value: unknown) => T): T[] {
  return Array.isArray(value) ? value.map(item) : [];
}

export function objects<T>(value: unknown, item: (value: Unknown) => T): T[] {
  return Array.isArray(value)
    ? value.filter((v) => typeof v === 'object' && v !== null).map((v) => item(object(v)))
    : [];
}

export function texts(value: unknown): string[] {
  return list(value, (item) => text(item));
}

export function numbers(value: unknown): number[] {
  return list(value, (item) => number(item));
}

// Name to number; what is no number is left out.
export function parts(value: unknown): Record<string, number> {
  const result: Record<string, number> = {};
  for (const [name, part] of Object.entries(object(value))) {
    if (typeof part === 'number' && Number.isFinite(part)) result[name] = part;
  }
  return result;
}

export function sum(values: Iterable<number>): number {
  let total = 0;
  for (const value of values) if (Number.isFinite(value)) total += value;
  return total;
}

// A part of a page that cannot be shown, and why; said in its place.
export class Missing extends Error {}

// A column of so many entries, or the reason why it is none.
export function column(value: unknown, length: number, name: string): Float64Array {
  if (!Array.isArray(value)) throw new Missing(`The column “${name}” is missing.`);
  if (value.length !== length)
    throw new Missing(`The column “${name}” has ${value.length} entries where ${length} are due.`);
  const result = new Float64Array(length);
  for (let i = 0; i < length; ++i) result[i] = typeof value[i] === 'number' ? value[i] : NaN;
  return result;
}

// A column of indices into a table of `size` entries, -1 for none.
export function indices(value: unknown, length: number, name: string, size: number): Int32Array {
  const wide = column(value, length, name);
  const result = new Int32Array(length);
  for (let i = 0; i < length; ++i) {
    const index = wide[i];
    result[i] = index >= 0 && index < size ? Math.trunc(index) : -1;
  }
  return result;
}
