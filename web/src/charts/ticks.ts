// Round places for the marks of an axis.

export function linearTicks(low: number, high: number, count: number): number[] {
  if (!(high > low) || !Number.isFinite(low) || !Number.isFinite(high)) return [];
  const rough = (high - low) / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((multiple) => multiple * power >= rough * (1 - 1e-9)) ?? 10);
  const ticks: number[] = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9 && ticks.length < 1000; ++k)
    ticks.push(k * step + 0);
  return ticks;
}

// Sizes in bytes: steps of powers of two.
export function binaryTicks(low: number, high: number, count: number): number[] {
  if (!(high > low) || !Number.isFinite(low) || !Number.isFinite(high)) return [];
  const step = 2 ** Math.ceil(Math.log2((high - low) / Math.max(1, count)) - 1e-9);
  const ticks: number[] = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9 && ticks.length < 1000; ++k)
    ticks.push(k * step + 0);
  return ticks;
}

// Powers of ten; 2 and 5 between them, or all digits, where there is room.
export function logTicks(low: number, high: number, count: number): number[] {
  if (!(low > 0) || !(high > low) || !Number.isFinite(high)) return [];
  const decades = Math.log10(high / low);
  if (decades < 0.7) return linearTicks(low, high, count);
  const digits = decades * 3 <= count * 1.5 ? [1, 2, 5] : [1];
  const every = Math.max(1, Math.ceil(decades / Math.max(1, count)));
  const ticks: number[] = [];
  for (let e = Math.floor(Math.log10(low)); e <= Math.ceil(Math.log10(high)); ++e) {
    if (((e % every) + every) % every !== 0) continue;
    for (const digit of digits) {
      const tick = digit * 10 ** e;
      if (tick >= low * (1 - 1e-9) && tick <= high * (1 + 1e-9)) ticks.push(tick);
    }
  }
  return ticks;
}

// A range around values, with room at its ends.
export function around(low: number, high: number, log: boolean): [number, number] {
  if (!(high >= low)) return log ? [1, 10] : [0, 1];
  if (log) {
    const room = Math.max((high / low) ** 0.05, 1.05);
    return [low / room, high * room];
  }
  if (high === low) return high === 0 ? [-1, 1] : [Math.min(low * 0.9, low * 1.1), Math.max(low * 0.9, low * 1.1)];
  const room = (high - low) * 0.05;
  return [low >= 0 && low - room < 0 ? 0 : low - room, high + room];
}
