// A made-up evaluation of any size that keeps the promises of src/data.ts.
import type { EvaluationData, GraphData, LifetimeData, ResultData, ScheduleData } from '../src/data';
import { randomNumbers } from './random';
import { phases, resultData, roles, type Event, type Size } from './result_data';

const types = ['Conv', 'Relu', 'BatchNormalization', 'MatMul', 'Add', 'AdamUpdate'];

export function evaluationData(size: Size): EvaluationData {
  const random = randomNumbers(7);
  const speed = size.speed ?? 1;
  const tracks: { name: string; kind: 'core' | 'link' | 'port'; events: Event[]; free: number[] }[] = [];
  for (let c = 0; c < size.cores; ++c)
    tracks.push({ name: `pe${Math.floor(c / 4)}_${c % 4}`, kind: 'core', events: [], free: [0] });
  tracks.push({ name: 'idle', kind: 'core', events: [], free: [0] });
  tracks.push({ name: 'memory_bus', kind: 'link', events: [], free: [0] });
  tracks.push({ name: 'dram port rw', kind: 'port', events: [], free: [0, 0] });
  const bus = tracks[size.cores + 1];
  const port = tracks[size.cores + 2];

  const operators: ResultData['operators'] = [];
  const names: string[] = [];
  const kinds = [...phases, 'fetch', 'write back'];
  const causes = ['', 'waited for fetch', 'waited for its core'];
  let now = 0;
  for (let node = 0; node < size.operators; ++node) {
    const phase = node < size.operators * 0.35 ? 0 : node < size.operators * 0.8 ? 1 : 2;
    const type = types[phase === 2 ? 5 : node % 5];
    names.push(`layer${Math.floor(node / 6)}.${type.toLowerCase()}${node}`);
    const name = names.length - 1;
    const begun = now;
    let busy = 0;
    let last = now;
    for (let tile = 0; tile < size.tiles; ++tile) {
      const track = tracks[(node * 3 + tile) % size.cores];
      const bytes = 256 + Math.floor(random() * 4096);
      const fetch = Math.max(now, bus.free[0]);
      const moved = Math.ceil(bytes / 64 / speed);
      bus.events.push({ start: fetch, length: moved, name, part: -1, kind: 3, cause: 0, node, lane: 0, bytes });
      bus.free[0] = fetch + moved;
      const lane = tile % 2;
      const at = Math.max(fetch, port.free[lane]);
      port.events.push({
        start: at,
        length: moved,
        name,
        part: -1,
        kind: tile % 7 === 0 ? 4 : 3,
        cause: 0,
        node,
        lane,
        bytes,
      });
      port.free[lane] = at + moved;
      const start = Math.max(bus.free[0], track.free[0]);
      const length = Math.ceil((60 + random() * 400) / speed);
      track.events.push({
        start,
        length,
        name,
        part: size.tiles === 1 ? -1 : tile,
        kind: phase,
        cause: start > bus.free[0] ? 2 : 1,
        node,
        lane: 0,
        bytes: 0,
      });
      track.free[0] = start + length;
      busy += length;
      last = Math.max(last, start + length);
    }
    now = begun + Math.max(1, Math.floor((last - begun) * 0.8));
    const macs = type === 'Conv' || type === 'MatMul' ? Math.floor(busy * (5 + random() * 50)) : 0;
    operators.push({
      name: names[name],
      operator: type,
      phase: phases[phase],
      stack: String(Math.floor(node / 3)),
      cores: tracks.slice(0, Math.min(size.tiles, size.cores)).map((track) => track.name),
      tiles: size.tiles,
      macs,
      start: begun,
      end: last,
      busy_cycles: busy,
      compute_cycles: busy * 0.7,
      stall_cycles: busy * 0.2,
      load_cycles: busy * 0.1,
      fill_cycles: 0,
      slowed_cycles: 0,
      wait_cycles: Math.floor(random() * 1000),
      energy_pj: busy * 40,
      energy_breakdown: { 'compute int8': busy * 10, 'memory dram': busy * 30 },
      home_read_bytes: size.tiles * 2048,
      home_write_bytes: size.tiles * 512,
      bound_cycles: busy * 0.6,
      recomputed: node % 17 === 5 && phase === 1,
    });
  }
  const total = Math.max(...tracks.flatMap((track) => track.free));
  const schedule = scheduleData(tracks, names, kinds, causes);
  return {
    name: size.name ?? 'made-up net on made-up machine',
    result: resultData(size, operators, tracks, total),
    machine: {
      peak_macs_per_cycle: size.cores * 128,
      roofs: [
        { memory: 'dram', bytes_per_cycle: 16 },
        { memory: 'shared/sram', bytes_per_cycle: 128 },
      ],
      derived: [
        { name: 'dram read energy', value: '4 pJ/bit', source: 'table of memory technologies, LPDDR4' },
        { name: 'pe sram access energy', value: '0.9 pJ/B', source: 'fit of SRAM macros at 28 nm' },
      ],
    },
    schedule,
    lifetimes: lifetimeData(operators, total),
    graph: graphData(operators),
  };
}

function scheduleData(
  tracks: { name: string; kind: 'core' | 'link' | 'port'; events: Event[]; free: number[] }[],
  names: string[],
  kinds: string[],
  causes: string[],
): ScheduleData {
  const data: ScheduleData = {
    tick: 1,
    tracks: [],
    names,
    kinds,
    causes,
    start: [],
    length: [],
    name: [],
    part: [],
    kind: [],
    cause: [],
    node: [],
    lane: [],
    from: [],
    bytes: [],
    critical: [],
  };
  const lastOfNode = new Map<number, number>();
  for (const track of tracks) {
    track.events.sort((a, b) => a.start - b.start);
    data.tracks.push({ name: track.name, kind: track.kind, events: track.events.length, lanes: track.free.length });
    let before = 0;
    for (const event of track.events) {
      data.start.push(event.start - before);
      before = event.start;
      data.length.push(event.length);
      data.name.push(event.name);
      data.part.push(event.part);
      data.kind.push(event.kind);
      data.cause.push(event.cause);
      data.node.push(event.node);
      data.lane.push(event.lane);
      data.bytes.push(event.bytes);
      if (track.kind === 'core') lastOfNode.set(event.node, data.start.length - 1);
    }
  }
  data.from = data.node.map((node) => lastOfNode.get(node - 1) ?? -1);
  data.critical = [...lastOfNode].sort((a, b) => a[0] - b[0]).map(([, event]) => event);
  return data;
}

function lifetimeData(operators: ResultData['operators'], total: number): LifetimeData {
  const data: LifetimeData = {
    tick: 1,
    memories: ['dram', 'pe0_0/sram'],
    names: [],
    roles,
    memory: [],
    name: [],
    role: [],
    start: [],
    length: [],
    bytes: [],
    address: [],
  };
  operators.forEach((operator, k) => {
    data.names.push(`${operator.name}.out`);
    data.memory.push(k % 5 === 0 ? 1 : 0);
    data.name.push(k);
    data.role.push(k % roles.length);
    const start = k % 3 === 0 ? 0 : operator.start;
    data.start.push(start);
    data.length.push(k % 3 === 0 ? total : Math.min(total - start, (operator.end - operator.start) * 4));
    data.bytes.push(4096);
    data.address.push(k % 5 === 0 ? -1 : (k % 40) * 4096);
  });
  return data;
}

function graphData(operators: ResultData['operators']): GraphData {
  const data: GraphData = {
    nodes: { name: [], operator: [], phase: [], stack: [], recomputed: [], x: [], y: [], node: [] },
    tensors: { name: [], role: [], shape: [], bytes: [], from: [], to: [], saved: [], decision: [] },
  };
  const forward = operators.filter((operator) => operator.phase === 'forward').length;
  operators.forEach((operator, k) => {
    data.nodes.name.push(operator.name);
    data.nodes.operator.push(operator.operator);
    data.nodes.phase.push(operator.phase);
    data.nodes.stack.push(Number(operator.stack));
    data.nodes.recomputed.push(operator.recomputed ? 1 : 0);
    const column = operator.phase === 'forward' ? 0 : operator.phase === 'backward' ? 1 : 2;
    data.nodes.x.push(column);
    data.nodes.y.push(column === 0 ? k : Math.max(0, 2 * forward - k) + (column === 2 ? k % 5 : 0));
    data.nodes.node.push(k);
    const mirror = 2 * forward - 1 - k;
    const saved = operator.phase === 'forward' && mirror >= forward && mirror < operators.length;
    data.tensors.name.push(`${operator.name}.out`);
    data.tensors.role.push(operator.phase === 'forward' ? 'activation' : 'gradient');
    data.tensors.shape.push('4x64x32x32 int8');
    data.tensors.bytes.push(262144);
    data.tensors.from.push(k);
    data.tensors.to.push([...(k + 1 < operators.length ? [k + 1] : []), ...(saved ? [mirror] : [])]);
    data.tensors.saved.push(saved ? 1 : 0);
    data.tensors.decision.push(saved ? (k % 7 === 3 ? 'recomputed' : k % 11 === 4 ? 'paged to flash' : 'kept') : '');
  });
  return data;
}
