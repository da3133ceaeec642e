// A made-up result.json that fits a made-up schedule.
import type { Parts, ResultData } from '../src/data';

export const phases = ['forward', 'backward', 'optimizer'] as const;
export const roles = ['input', 'weight', 'activation', 'gradient', 'weight gradient', 'optimizer state'];

export interface Size {
  cores: number;
  operators: number;
  tiles: number; // of each operator
  fits?: boolean;
  speed?: number; // 2: everything in half the time
  name?: string;
}

export interface Event {
  start: number;
  length: number;
  name: number;
  part: number;
  kind: number;
  cause: number;
  node: number;
  lane: number;
  bytes: number;
}

export function resultData(
  size: Size,
  operators: ResultData['operators'],
  tracks: { name: string; kind: string; events: Event[] }[],
  total: number,
): ResultData {
  const sum = (values: number[]) => values.reduce((a, b) => a + b, 0);
  const energy = sum(operators.map((operator) => operator.energy_pj)) * 1.1;
  const clock = 800e6;
  const curve = { roles, at: [] as number[], bytes: [] as number[][] };
  const steps = 240;
  for (let k = 0; k < steps; ++k) {
    const hump = Math.sin((k / steps) * Math.PI);
    curve.at.push((k / steps) * total);
    curve.bytes.push([
      12288,
      11e6,
      Math.floor(9e6 * hump),
      Math.floor(2e6 * hump * ((k * 7) % 5)) / 5,
      Math.floor(4e6 * Math.max(0, hump - 0.5)),
      22e6,
    ]);
  }
  const totals = curve.bytes.map(sum);
  const peak = Math.max(...totals);
  const at = totals.indexOf(peak);
  const byRole: Parts = {};
  roles.forEach((role, k) => (byRole[role] = curve.bytes[at][k]));
  return {
    schema: 1,
    command: 'evaluate',
    model: 'made-up net',
    hardware: 'made-up machine',
    recipe: 'fp32',
    recipe_from: 'file',
    recipe_text: "fp32, the network's own",
    reach_text: '',
    objective: 'latency',
    mode: 'training',
    clock_hz: clock,
    batch: 4,
    micro_batches: 1,
    fits: size.fits ?? true,
    does_not_fit: size.fits === false ? 'dram needs 46.1 MiB of 40 MiB' : '',
    diagnosis: ['port dram rw is busy for 93 % of the step: 2 KiB cross it'],
    latency_cycles: total,
    latency_s: total / clock,
    latency_by: {
      compute: total * 0.3,
      stall: total * 0.35,
      traffic: total * 0.2,
      recomputation: total * 0.05,
      paging: 0,
      waiting: total * 0.1,
    },
    energy_pj: energy,
    energy_breakdown: {
      'compute int8': energy * 0.2,
      'memory dram': energy * 0.6,
      'memory pe0_0/sram': energy * 0.05,
      'memory pe0_1/sram': energy * 0.05,
      'link memory_bus': energy * 0.04,
      static: energy * 0.06,
    },
    energy_by: {
      compute: energy * 0.2,
      traffic: energy * 0.7,
      recomputation: energy * 0.04,
      paging: 0,
      static: energy * 0.06,
    },
    peak_bytes: { dram: peak },
    live_peak_bytes: { dram: peak, 'pe0_0/sram': 1.4e6 },
    footprint_bytes: byRole,
    macs: sum(operators.map((operator) => operator.macs)),
    utilization: 0.12,
    nodes: operators.length,
    parameters: 11173962,
    saved_bytes: 18790048,
    stacks: Math.ceil(operators.length / 3),
    tiles: operators.length * size.tiles,
    transfers: operators.length * size.tiles * 2,
    bound: { latency_cycles: total * 0.4, energy_pj: energy * 0.4, by: 'weights and data through the ports of dram' },
    checked: `${operators.length * size.tiles} tiles, ${operators.length * size.tiles * 2} transfers`,
    wall_s: 0.131,
    phases: phases.map((phase) => {
      const own = operators.filter((operator) => operator.phase === phase);
      return {
        phase,
        start: Math.min(...own.map((operator) => operator.start)),
        end: Math.max(...own.map((operator) => operator.end)),
        latency_cycles: total / 3,
        busy_cycles: sum(own.map((operator) => operator.busy_cycles)),
        energy_pj: sum(own.map((operator) => operator.energy_pj)),
        macs: sum(own.map((operator) => operator.macs)),
      };
    }),
    operators,
    resources: tracks.map((track) => {
      const busy = sum(track.events.map((event) => event.length));
      return {
        name: track.name,
        kind: track.kind,
        busy_cycles: busy,
        idle_cycles: total - busy,
        utilization: busy / total,
        bytes: sum(track.events.map((event) => event.bytes)),
        energy_pj: busy * 3,
        idle_by: { transfer: (total - busy) * 0.8, 'nothing to do': (total - busy) * 0.2 },
      };
    }),
    memories: [
      {
        name: 'dram',
        kind: 'dram',
        capacity_bytes: 64e6,
        live_peak_bytes: peak,
        packed_peak_bytes: peak,
        peak_at: curve.at[at],
        peak_by_role: byRole,
        alive_at_peak: operators.slice(0, 60).map((operator, k) => ({
          name: `${operator.name}.out`,
          role: roles[k % roles.length],
          bytes: 4096 * (k + 1),
          start: 0,
          end: total,
        })),
        read_bytes: 99e6,
        written_bytes: 61e6,
        energy_pj: energy * 0.6,
        curve,
      },
      {
        name: 'pe0_0/sram',
        kind: 'sram',
        capacity_bytes: 2097152,
        live_peak_bytes: 1.4e6,
        packed_peak_bytes: 0,
        peak_at: total / 2,
        peak_by_role: { activation: 1.4e6 },
        alive_at_peak: [],
        read_bytes: 1e6,
        written_bytes: 2e6,
        energy_pj: energy * 0.05,
        curve: { roles: ['activation'], at: [0, total / 2, total * 0.7], bytes: [[0], [1.4e6], [1e5]] },
      },
    ],
    critical_path: operators.slice(0, 80).map((operator, k) => ({
      name: operator.name,
      kind: ['compute', 'wait', 'transfer'][k % 3],
      start: operator.start,
      end: operator.end,
      steps: 1,
    })),
    critical_by_kind: { compute: total * 0.3, stall: total * 0.4, fetch: total * 0.1, wait: total * 0.2 },
    inference: { latency_cycles: total / 5.78, energy_pj: energy / 5.31, peak_bytes: peak / 3.59 },
    options:
      size.fits === false
        ? [
            {
              what: 'recompute all activations',
              fits: true,
              latency_cycles: total * 1.3,
              energy_pj: energy * 1.2,
              peak_bytes: 35e6,
              reason: '',
            },
            {
              what: 'batch 2',
              fits: false,
              latency_cycles: total * 0.6,
              energy_pj: energy * 0.6,
              peak_bytes: 41e6,
              reason: 'dram needs 41 MB of 40 MB',
            },
          ]
        : [],
    filled: [
      '244 of 244 operators on the kind of core that is fastest for them',
      '58 of 244 operators split over the cores of their kind',
    ],
    warnings: size.fits === false ? ['the step does not fit'] : [],
    notes: ['made-up machine works in 8 bits: wider numbers are stored in as many'],
  };
}
