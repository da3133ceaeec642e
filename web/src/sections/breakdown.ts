// Where latency and energy go: by cause, phase, operator type, memory and link.
import { h, type Child } from '../base/dom';
import { styleColour, turnStyle } from '../base/colours';
import { sum } from '../base/read';
import { byteSize, energyText, percent, type Clock } from '../base/units';
import type { Parts, ResultData } from '../data';
import { shares, type Part } from '../charts/bars';
import { guardedPanel } from '../charts/section';
import { table } from '../charts/table';
import { swatch } from '../charts/tooltip';
import type { Evaluation } from '../decode/result';

export function breakdownSection({ result, clock }: Evaluation): Child {
  const energy = energyGroups(result);
  return [
    h(
      'div',
      { class: 'columns' },
      guardedPanel('Latency by cause', () => shares(inOrder(result.latency_by), clock.text, result.latency_cycles)),
      guardedPanel('Energy by cause', () => shares(inOrder(result.energy_by), energyText, result.energy_pj)),
      guardedPanel('Critical path by kind', () => shares(byValue(result.critical_by_kind), clock.text)),
      guardedPanel('Energy by part of the machine', () => shares(byValue(energy), energyText, result.energy_pj)),
      guardedPanel('Core time by operator type', () =>
        shares(
          byType(result, (o) => o.busy_cycles),
          clock.text,
        ),
      ),
      guardedPanel('Energy by operator type', () =>
        shares(
          byType(result, (o) => o.energy_pj),
          energyText,
        ),
      ),
    ),
    guardedPanel('Phases', () => phaseTable(result, clock)),
    guardedPanel('Cores, links and ports', () => resourceTable(result, clock)),
    guardedPanel('Memories', () => memoryTable(result)),
    guardedPanel('Critical path', () => pathTable(result, clock)),
  ];
}

function inOrder(parts: Parts): Part[] {
  return Object.entries(parts).map(([name, value], k) => ({ name, value, colour: styleColour(name, k) }));
}

function byValue(parts: Parts): Part[] {
  return inOrder(parts).sort((a, b) => b.value - a.value);
}

// "memory pe0_0/sram", "memory pe0_1/sram" … as one: the memories of equal cores differ in digits alone.
export function energyGroups(result: ResultData): Parts {
  const members = new Map<string, { names: string[]; value: number }>();
  for (const [name, value] of Object.entries(result.energy_breakdown)) {
    const key =
      name.startsWith('memory ') && name.includes('/') ? name.replace(/\d+/g, '*').replace(/\*(_\*)+/g, '*') : name;
    const group = members.get(key) ?? { names: [], value: 0 };
    group.names.push(name);
    group.value += value;
    members.set(key, group);
  }
  const result_: Parts = {};
  for (const [key, group] of members)
    result_[group.names.length === 1 ? group.names[0] : `${key} (${group.names.length})`] = group.value;
  return result_;
}

function byType(result: ResultData, value: (operator: ResultData['operators'][number]) => number): Part[] {
  const totals = new Map<string, number>();
  for (const operator of result.operators) {
    const found = value(operator);
    if (Number.isFinite(found)) totals.set(operator.operator, (totals.get(operator.operator) ?? 0) + found);
  }
  const types = [...totals.keys()].sort();
  return [...totals]
    .map(([name, total]) => ({ name, value: total, colour: turnStyle(types.indexOf(name)) }))
    .sort((a, b) => b.value - a.value);
}

function phaseTable(result: ResultData, clock: Clock): Child {
  return table({
    label: 'Phases',
    rows: result.phases,
    columns: [
      { name: 'phase', value: (p) => p.phase, show: (p) => [swatch(styleColour(p.phase)), p.phase] },
      {
        name: 'latency',
        title: 'Its part of the step; the parts add up',
        value: (p) => p.latency_cycles,
        show: (p) => clock.text(p.latency_cycles),
        bar: (p) => p.latency_cycles / result.latency_cycles,
      },
      {
        name: 'share',
        value: (p) => p.latency_cycles / result.latency_cycles,
        show: (p) => percent(p.latency_cycles / result.latency_cycles),
      },
      { name: 'from', value: (p) => p.start, show: (p) => clock.text(p.start) },
      { name: 'to', value: (p) => p.end, show: (p) => clock.text(p.end) },
      {
        name: 'on cores',
        title: 'Core time, of all cores together',
        value: (p) => p.busy_cycles,
        show: (p) => clock.text(p.busy_cycles),
      },
      {
        name: 'energy',
        value: (p) => p.energy_pj,
        show: (p) => energyText(p.energy_pj),
        bar: (p) => p.energy_pj / result.energy_pj,
      },
      {
        name: 'of energy',
        value: (p) => p.energy_pj / result.energy_pj,
        show: (p) => percent(p.energy_pj / result.energy_pj),
      },
      { name: 'MACs', value: (p) => p.macs },
    ],
  }).element;
}

function resourceTable(result: ResultData, clock: Clock): Child {
  const energy = sum(result.resources.map((r) => r.energy_pj));
  return table({
    label: 'Cores, links and ports',
    rows: result.resources,
    sort: { column: 3, down: true },
    filter: 'Filter by name or kind',
    words: (r) => `${r.name} ${r.kind}`,
    first: 10,
    columns: [
      { name: 'name', value: (r) => r.name },
      { name: 'kind', value: (r) => r.kind },
      { name: 'busy', value: (r) => r.busy_cycles, show: (r) => clock.text(r.busy_cycles) },
      { name: 'in use', value: (r) => r.utilization, show: (r) => percent(r.utilization), bar: (r) => r.utilization },
      { name: 'idle because of', value: (r) => idleText(r, result.latency_cycles) },
      { name: 'traffic', value: (r) => r.bytes, show: (r) => (r.bytes > 0 ? byteSize(r.bytes) : '') },
      {
        name: 'energy',
        value: (r) => r.energy_pj,
        show: (r) => energyText(r.energy_pj),
        bar: (r) => (energy > 0 ? r.energy_pj / energy : 0),
      },
    ],
  }).element;
}

function idleText(resource: ResultData['resources'][number], total: number): string {
  return Object.entries(resource.idle_by ?? {})
    .filter(([, value]) => value / total >= 0.005)
    .sort((a, b) => b[1] - a[1])
    .map(([name, value]) => `${name} ${percent(value / total, 0)}`)
    .join(', ');
}

function memoryTable(result: ResultData): Child {
  return table({
    label: 'Memories',
    rows: result.memories,
    sort: { column: 8, down: true },
    filter: result.memories.length > 10 ? 'Filter by name or kind' : undefined,
    words: (m) => `${m.name} ${m.kind}`,
    first: 10,
    columns: [
      { name: 'memory', value: (m) => m.name },
      { name: 'kind', value: (m) => m.kind },
      { name: 'size', value: (m) => m.capacity_bytes, show: (m) => byteSize(m.capacity_bytes) },
      { name: 'live peak', value: (m) => m.live_peak_bytes, show: (m) => byteSize(m.live_peak_bytes) },
      {
        name: 'packed',
        title: 'Peak with addresses',
        value: (m) => m.packed_peak_bytes,
        show: (m) => (m.packed_peak_bytes > 0 ? byteSize(m.packed_peak_bytes) : ''),
      },
      { name: 'full', value: (m) => fullness(m), show: (m) => percent(fullness(m)), bar: fullness },
      { name: 'read', value: (m) => m.read_bytes, show: (m) => byteSize(m.read_bytes) },
      { name: 'written', value: (m) => m.written_bytes, show: (m) => byteSize(m.written_bytes) },
      {
        name: 'energy',
        value: (m) => m.energy_pj,
        show: (m) => energyText(m.energy_pj),
        bar: (m) => m.energy_pj / result.energy_pj,
      },
    ],
  }).element;
}

function fullness(memory: ResultData['memories'][number]): number {
  return Math.max(memory.packed_peak_bytes || 0, memory.live_peak_bytes || 0) / memory.capacity_bytes;
}

function pathTable(result: ResultData, clock: Clock): Child {
  const longest = result.critical_path.reduce((most, c) => Math.max(most, c.end - c.start || 0), 1e-12);
  return table({
    label: 'Critical path',
    rows: result.critical_path,
    sort: { column: 4, down: true },
    filter: 'Filter by name or kind',
    first: 10,
    columns: [
      { name: 'what', value: (c) => c.name, show: (c) => h('code', null, c.name) },
      { name: 'kind', value: (c) => c.kind, show: (c) => [swatch(styleColour(c.kind)), c.kind] },
      { name: 'steps', value: (c) => c.steps },
      { name: 'from', value: (c) => c.start, show: (c) => clock.text(c.start) },
      {
        name: 'takes',
        value: (c) => c.end - c.start,
        show: (c) => clock.text(c.end - c.start),
        bar: (c) => (c.end - c.start) / longest,
      },
      {
        name: 'share',
        value: (c) => (c.end - c.start) / result.latency_cycles,
        show: (c) => percent((c.end - c.start) / result.latency_cycles),
      },
    ],
  }).element;
}
