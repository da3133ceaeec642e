// Made-up data of every kind of page.
import type {
  ComparisonData,
  EvaluationData,
  ExplorationData,
  PlansData,
  PrecisionsData,
  ReportData,
} from '../src/data';
import { evaluationData } from './evaluation_data';
import { randomNumbers } from './random';

export function smallReport(): ReportData {
  return report('small', [evaluationData({ cores: 8, operators: 90, tiles: 6 })]);
}

export function doesNotFitReport(): ReportData {
  return report('does not fit', [evaluationData({ cores: 4, operators: 30, tiles: 2, fits: false })]);
}

// More than 100,000 tiles, and twice as many transfers.
export function largeReport(): ReportData {
  return report('large', [evaluationData({ cores: 32, operators: 1600, tiles: 64 })]);
}

export function resultOnlyReport(): ReportData {
  const { name, result } = evaluationData({ cores: 4, operators: 30, tiles: 2 });
  return report('result only', [{ name, result }]);
}

export function comparisonReport(): ReportData {
  const a = evaluationData({ cores: 8, operators: 60, tiles: 6, name: 'out/a' });
  const b = evaluationData({ cores: 8, operators: 60, tiles: 6, speed: 2, name: 'out/b' });
  return { ...report('a against b', [a, b]), comparison: comparisonData(a, b) };
}

export function plansReport(): ReportData {
  return { ...report('plans', []), plans: plansData() };
}

export function explorationReport(designs = 10000): ReportData {
  return { ...report('exploration', []), exploration: explorationData(designs) };
}

export function precisionsReport(accuracy = true): ReportData {
  return { ...report('recipes', []), precisions: precisionsData(accuracy) };
}

function report(title: string, evaluations: EvaluationData[]): ReportData {
  return { schema: 1, program: 'monet 0.8.0', title, evaluations };
}

function comparisonData(a: EvaluationData, b: EvaluationData): ComparisonData {
  const rows: ComparisonData['rows'] = [];
  const add = (part: string, unit: ComparisonData['rows'][number]['unit'], x: number, y: number) =>
    rows.push({ part, unit, a: x, b: y, delta: y - x });
  add('latency', 'cycles', a.result.latency_cycles, b.result.latency_cycles);
  for (const part of Object.keys(a.result.latency_by))
    add(`latency: ${part}`, 'cycles', a.result.latency_by[part], b.result.latency_by[part]);
  add('energy', 'pJ', a.result.energy_pj, b.result.energy_pj);
  for (const part of Object.keys(a.result.energy_by))
    add(`energy: ${part}`, 'pJ', a.result.energy_by[part], b.result.energy_by[part]);
  add('memory dram', 'bytes', 46e6, 39e6);
  add('memory dram: activation', 'bytes', 20e6, 12e6);
  add('memory dram: weight', 'bytes', 26e6, 27e6);
  return {
    a: a.name,
    b: b.name,
    rows,
    operators: a.result.operators.slice(0, 30).map((o, k) => ({
      name: o.name,
      phase: o.phase,
      a_cycles: o.busy_cycles,
      b_cycles: b.result.operators[k].busy_cycles,
      a_pj: o.energy_pj,
      b_pj: b.result.operators[k].energy_pj,
    })),
    assumptions: [
      { what: 'batch', a: '4', b: '8' },
      { what: 'hardware', a: 'edge_tpu', b: 'edge_tpu with pe.sram = 4 MiB' },
    ],
    recipe_text: { a: "fp32, the network's own", b: 'bf16' },
  };
}

function plansData(): PlansData {
  const kept = {
    latency_cycles: 2.083e7,
    latency_s: 0.02604,
    energy_pj: 2.213e10,
    peak_bytes: 42958016,
    saved_bytes_dropped: 0,
    stacks: 244,
    order: 'default',
    recomputed: [],
    paged: [],
  };
  return {
    command: 'optimize',
    model: 'resnet18-cifar',
    hardware: 'edge_tpu',
    recipe_text: "int8-everywhere, the machine's recipe",
    memory: 'dram',
    objective: 'latency',
    clock_hz: 8e8,
    budget_bytes: 40 * 2 ** 20,
    deadline_cycles: 2.4e7,
    start: kept,
    plans: Array.from({ length: 24 }, (_, k) => ({
      latency_cycles: 1.7e7 * (1 + 0.4 * (k / 23) ** 2),
      latency_s: (1.7e7 * (1 + 0.4 * (k / 23) ** 2)) / 8e8,
      energy_pj: 2.0e10 * (1 + 0.2 * (k / 23)),
      peak_bytes: 42.9e6 - 4e5 * k,
      saved_bytes_dropped: 4e5 * k,
      stacks: 120 + k,
      order: 'depth first',
      recomputed: Array.from({ length: k }, (_, i) => `layer${1 + (i % 4)}.${i % 2}.relu${i}.out`),
      paged: k > 18 ? ['conv1.out'] : [],
      why: 'each dropped tensor saves more memory for its time than any that is kept',
      plan_file: `plan_${k + 1}.yaml`,
      plan_yaml: `schema: 1\nmodel: resnet18-cifar\nrecompute:\n${Array.from({ length: k }, (_, i) => `  - layer${i}.out\n`).join('')}`,
    })),
    bound: { latency_cycles: 8.38e6, energy_pj: 8.67e9 },
    evaluated: 4211,
    wall_s: 12.3,
    warnings: [],
    notes: ['the search stopped when nothing new was found'],
  };
}

function explorationData(count: number): ExplorationData {
  const random = randomNumbers(11);
  const parameters = [
    { name: 'x', values: ['1', '2', '4', '6', '8'] },
    { name: 'y', values: ['1', '2', '4', '6', '8'] },
    { name: 'simd', values: ['16', '32', '64', '128'] },
    { name: 'lanes', values: ['1', '2', '4', '8'] },
    { name: 'sram', values: ['0.5 MiB', '1 MiB', '2 MiB', '3 MiB', '4 MiB'] },
    { name: 'registers', values: ['8 KiB', '16 KiB', '32 KiB', '48 KiB', '64 KiB'] },
  ];
  const columns = parameters.map((parameter) =>
    Array.from({ length: count }, () => Math.floor(random() * parameter.values.length)),
  );
  const cores = (i: number) =>
    Number(parameters[0].values[columns[0][i]]) * Number(parameters[1].values[columns[1][i]]);
  const width = (i: number) =>
    Number(parameters[2].values[columns[2][i]]) * Number(parameters[3].values[columns[3][i]]);
  const latency = Array.from({ length: count }, (_, i) => 0.004 + 2 / (cores(i) * width(i)) + 0.002 * random());
  const energy = Array.from(
    { length: count },
    (_, i) => 1.5e10 * (1 + cores(i) / 90 + columns[4][i] * 0.04 + 0.1 * random()),
  );
  const area = Array.from({ length: count }, (_, i) => 1 + cores(i) * (0.05 + columns[4][i] * 0.1) + width(i) / 100);
  const inference = latency.map((value) => value / (4 + random()));
  const order = latency.map((_, i) => i).sort((a, b) => latency[a] - latency[b]);
  const front: number[] = [];
  let least = Infinity;
  for (const i of order) {
    if (energy[i] < least) {
      least = energy[i];
      front.push(i);
    }
  }
  return {
    space: 'edge_tpu_space',
    description: 'Processing elements, their width and their memories.',
    method: 'all designs',
    workloads: ['training', 'inference'],
    objectives: [
      { name: 'latency', metric: 0, better: 'less' },
      { name: 'energy', metric: 1, better: 'less' },
    ],
    space_size: 10000,
    seen: count + 120,
    evaluated: count,
    failed: 40,
    excluded: 80,
    hypervolume: 0.8123,
    recipes: [{ recipe: 'int8-everywhere', text: 'int8-everywhere; nothing trains so', designs: count }],
    parameters,
    metrics: [
      { name: 'latency', unit: 's', workload: 'training' },
      { name: 'energy', unit: 'pJ', workload: 'training' },
      { name: 'area', unit: 'mm2', workload: '' },
      { name: 'latency', unit: 's', workload: 'inference' },
    ],
    designs: {
      id: Array.from({ length: count }, (_, i) => i),
      parameters: columns,
      metrics: [latency, energy, area, inference],
    },
    shown: count,
    front,
    tolerance: 0.005,
    recommended: { index: front[1], shown: front[1], knee: true, why: 'the knee of the front' },
    failures: [{ reason: 'conv1 has no core that can run it', designs: 40 }],
    sensitivities: ['latency', 'energy'].flatMap((objective) =>
      parameters.map((parameter, k) => ({
        parameter: parameter.name,
        objective,
        share: 0.4 / (k + 1),
        share_likely: 0.38 / (k + 1),
        share_low: 0.3 / (k + 1),
        share_high: 0.5 / (k + 1),
        values: parameter.values.map((value, v) => ({
          value,
          designs: count / parameter.values.length,
          on_front: v,
          mean: objective === 'latency' ? 0.02 : 2e10,
          best: objective === 'latency' ? 0.005 : 1.6e10,
        })),
      })),
    ),
    correlations: [{ a: 'training', b: 'inference', metric: 'latency', spearman: 0.87, designs: count }],
    commands: [
      { workload: 'training', command: 'monet evaluate resnet18-cifar --hardware edge_tpu {set} -o out/design' },
    ],
    notes: ['every design was checked'],
  };
}

// Name, bits of an element, loss at the end above that of fp32.
const recipes: [string, number, number][] = [
  ['fp32', 32, 0],
  ['bf16', 16, 0.002],
  ['fp16', 16, 0.0015],
  ['mixed', 16, 0.001],
  ['fp8-hybrid', 8, 0.008],
  ['mxfp8', 8.25, 0.006],
  ['mxfp8-square', 8.125, 0.0065],
  ['mxfp6', 6.25, 0.02],
  ['mxfp6-square', 6.125, 0.022],
  ['mxfp4', 4.25, 0.3],
  ['mxint8', 8.25, 0.005],
  ['mxint8-square', 8.125, 0.0055],
  ['mx9', 9, 0.004],
  ['mx6', 6, 0.03],
  ['mx4', 4, NaN],
  ['int8-tensor', 8, 0.07],
  ['tin-tin', 8, 0.12],
];

function precisionsData(accuracy: boolean): PrecisionsData {
  const random = randomNumbers(5);
  const steps = 200;
  const every = 10;
  const rows: PrecisionsData['rows'] = recipes.map(([recipe, bits, above]) => {
    const diverged = Number.isNaN(above);
    const failed = recipe === 'tin-tin' ? 'no core can run Quantize in int8 (give a machine with a vector unit)' : null;
    const cost = (value: number) => (failed === null ? value : null);
    const curve = (step: number) => 0.05 + 2.2 * Math.exp(-step / 40) + (diverged ? step / 50 : above);
    const ends = diverged ? 60 : steps;
    return {
      recipe,
      failed,
      costed_as: recipe === 'fp32' ? 'mxint8' : null,
      best: false,
      latency_s: cost(1e-3 + bits * 1e-4),
      energy_pj: cost(2e8 + bits * 4e7 * (1 + 0.05 * random())),
      peak_bytes: cost(Math.round(3e6 + bits * 1.5e5 * (recipe.endsWith('square') ? 0.8 : 1))),
      static_bytes: cost(2e6),
      saved_bytes: cost(Math.round(bits * 4e4)),
      copy_bytes: cost(bits < 16 ? Math.round(bits * 6e4) : 0),
      padding_bytes: cost(bits < 16 ? 1200 : 0),
      quantized_elements: cost(bits < 16 ? 480000 : 0),
      simulation: accuracy
        ? {
            optimizer: 'adam',
            loss: 'cross-entropy',
            data: 'a made-up task',
            batch: 32,
            steps,
            parameters: 24610,
            seed: 1,
            learning_rate: 0.001,
            diverged,
            stopped: false,
            losses: Array.from({ length: ends }, (_, k) => curve(k) * (1 + 0.2 * (random() - 0.5))),
            measured: Array.from({ length: ends / every + 1 }, (_, k) => ({
              step: k * every,
              loss: diverged && k * every === ends ? null : curve(k * every),
              accuracy: 1 - Math.min(0.9, curve(k * every) / 2.5),
            })),
          }
        : null,
      not_simulated: null,
    };
  });
  const judged = (row: PrecisionsData['rows'][number]): number[] => [
    accuracy ? (row.simulation!.measured.at(-1)!.loss ?? Infinity) : 0,
    row.energy_pj ?? Infinity,
    row.peak_bytes ?? Infinity,
  ];
  for (const row of rows) {
    const own = judged(row);
    row.best =
      own.every(Number.isFinite) &&
      row.costed_as === null &&
      !rows.some((other) => {
        const theirs = judged(other);
        return other.costed_as === null && theirs.every((value, k) => value <= own[k]) && theirs.some((value, k) => value < own[k]);
      });
  }
  return {
    command: 'precision compare',
    model: 'mlp-robotics',
    simulate_model: accuracy ? 'mlp-robotics' : null,
    hardware: 'snax_mx',
    rows,
    loss_tolerance: accuracy ? 0.003 : null,
    warnings: accuracy ? ['fp32 hardly learned'] : [],
    notes: ['a made-up task: classes with a random centre each'],
    wall_s: 41,
  };
}
