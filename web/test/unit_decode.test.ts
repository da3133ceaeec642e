// Are columns read right, and what happens to damaged ones?
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Missing } from '../src/base/read';
import { decodeComparison, groupsOf } from '../src/decode/comparison';
import { commandOf, decodeExploration, settings } from '../src/decode/exploration';
import { decodeGraph } from '../src/decode/graph';
import { decodeLifetimes } from '../src/decode/lifetimes';
import { decodePlans } from '../src/decode/plans';
import { decodePrecisions, frontOf, smoothed } from '../src/decode/precisions';
import { decodeEvaluation } from '../src/decode/result';
import { chainOf, decodeSchedule, usersOf } from '../src/decode/schedule';
import { randomNumbers } from './random';
import { comparisonReport, explorationReport, plansReport, precisionsReport, smallReport } from './report_data';

function tinySchedule() {
  return {
    tick: 2,
    tracks: [
      { name: 'core', kind: 'core', events: 3, lanes: 1 },
      { name: 'bus', kind: 'link', events: 1, lanes: 1 },
    ],
    names: ['a', 'b'],
    kinds: ['forward', 'fetch'],
    causes: ['', 'late'],
    start: [0, 5, 5, 7],
    length: [5, 4, 1, 3],
    name: [0, 0, 1, 1],
    part: [0, 1, -1, -1],
    kind: [0, 0, 0, 1],
    cause: [0, 0, 1, 0],
    node: [0, 0, 1, -1],
    lane: [0, 0, 0, 0],
    from: [-1, 0, 3, 1],
    bytes: [0, 0, 0, 64],
    critical: [0, 1, 2],
  };
}

test('a schedule: starts are differences within a track, in ticks', () => {
  const schedule = decodeSchedule(tinySchedule(), 2);
  assert.deepEqual([...schedule.start], [0, 10, 20, 14]);
  assert.deepEqual([...schedule.end], [10, 18, 22, 20]);
  assert.deepEqual([...schedule.track], [0, 0, 0, 1]);
  assert.equal(schedule.tracks[0].busy, 20);
  assert.deepEqual([...schedule.isCritical], [1, 1, 1, 0]);
  assert.deepEqual(chainOf(schedule, 2), [3, 1, 0]);
  assert.deepEqual(usersOf(schedule, 0), [1]);
});

test('a chain that turns in a circle ends', () => {
  const data = tinySchedule();
  data.from = [2, 0, 1, -1];
  assert.deepEqual(chainOf(decodeSchedule(data, 2), 2), [1, 0]);
});

test('events of a lane are put in order', () => {
  const data = tinySchedule();
  data.start = [10, -5, 1, 7];
  assert.deepEqual([...decodeSchedule(data, 2).tracks[0].lanes[0].events], [1, 2, 0]);
});

test('indices that lead nowhere are none', () => {
  const data = tinySchedule();
  data.name = [9, 0, 1, 1];
  data.node = [7, 0, 1, -1];
  data.critical = [0, 99, -3];
  const schedule = decodeSchedule(data, 2);
  assert.equal(schedule.name[0], -1);
  assert.equal(schedule.node[0], -1);
  assert.deepEqual([...schedule.critical], [0]);
});

test('damaged columns are named', () => {
  const data = tinySchedule() as Record<string, unknown>;
  assert.throws(
    () => decodeSchedule({ ...data, length: [1] }, 2),
    new Missing('The column “length” has 1 entries where 4 are due.'),
  );
  assert.throws(() => decodeSchedule({ ...data, lane: 'x' }, 2), new Missing('The column “lane” is missing.'));
  assert.throws(() => decodeSchedule({ ...data, start: 3 }, 2), new Missing('The schedule has no column “start”.'));
  assert.throws(
    () => decodeSchedule({ ...data, tracks: [] }, 2),
    new Missing('The tracks of the schedule have 0 events, its columns 4.'),
  );
  assert.throws(() => decodeSchedule(undefined, 2), Missing);
  assert.throws(() => decodeLifetimes(undefined), Missing);
  assert.throws(() => decodeLifetimes({ start: [1], length: [] }), Missing);
  assert.throws(() => decodeLifetimes({}), new Missing('The lifetimes have no column “start”.'));
  assert.throws(() => decodeGraph(undefined, 0), Missing);
  assert.throws(() => decodeGraph({ nodes: 3 }, 0), new Missing('The graph has no nodes.'));
  assert.throws(() => decodePlans({}), new Missing('The data hold no list of plans.'));
  assert.throws(() => decodeExploration({}), new Missing('The exploration holds no designs.'));
  assert.throws(() => decodeComparison({}), new Missing('The comparison has no rows.'));
  assert.throws(() => decodePrecisions({}), new Missing('The comparison holds no recipes.'));
});

test('a result of anything at all is read', () => {
  for (const value of [
    null,
    3,
    'x',
    [],
    {},
    { result: null },
    { result: { operators: [null, 3, { name: 5 }], memories: 'x', latency_by: { a: 'b', c: 1 } } },
  ]) {
    const evaluation = decodeEvaluation(value);
    assert.ok(Array.isArray(evaluation.result.operators));
    assert.ok(Number.isNaN(evaluation.result.latency_cycles));
  }
  const { result } = decodeEvaluation({ result: { operators: [null, { name: 'b' }], latency_by: { a: 'b', c: 1 } } });
  assert.deepEqual(
    result.operators.map((operator) => operator.name),
    ['?', 'b'],
  );
  assert.deepEqual(result.latency_by, { c: 1 });
});

test('made-up data keep the contract', () => {
  const [evaluation] = smallReport().evaluations;
  const decoded = decodeEvaluation(evaluation);
  const schedule = decodeSchedule(evaluation.schedule, decoded.result.operators.length);
  assert.equal(schedule.count, evaluation.schedule!.start.length);
  for (const track of schedule.tracks) {
    for (const { events } of track.lanes)
      for (let k = 1; k < events.length; ++k) assert.ok(schedule.start[events[k]] >= schedule.end[events[k - 1]]);
  }
  assert.equal(decodeGraph(evaluation.graph, 90).count, 90);
  assert.equal(decodeLifetimes(evaluation.lifetimes).count, 90);
  assert.equal(decodePlans(plansReport().plans).plans.length, 24);
});

test('parts of a comparison stand under their total', () => {
  const groups = groupsOf(decodeComparison(comparisonReport().comparison));
  assert.deepEqual(
    groups.map((group) => group.total.part),
    ['latency', 'energy', 'memory dram'],
  );
  for (const { total, parts } of groups) {
    assert.ok(Math.abs(parts.reduce((sum, part) => sum + part.delta, 0) - total.delta) <= 1e-9 * Math.abs(total.a));
  }
});

test('commands carry the design, quoted where a shell needs it', () => {
  const exploration = decodeExploration(explorationReport(10).exploration);
  exploration.parameter.forEach((column) => column.fill(1));
  assert.equal(
    settings(exploration, 0),
    "--set x=2 --set y=2 --set simd=32 --set lanes=2 --set 'sram=1 MiB' --set 'registers=16 KiB'",
  );
  assert.equal(commandOf('monet evaluate net {set}', exploration, 0), `monet evaluate net ${settings(exploration, 0)}`);
});

test('recipes: what there is none of is no number, and fp32 is what others are compared with', () => {
  const found = decodePrecisions(precisionsReport().precisions);
  assert.equal(found.rows.length, 17);
  assert.equal(found.reference?.name, 'fp32');
  const failed = found.rows.find((row) => row.name === 'tin-tin')!;
  assert.match(failed.failed, /no core/);
  assert.ok(Number.isNaN(failed.energy) && Number.isNaN(failed.copies) && failed.training !== null);
  const fell = found.rows.find((row) => row.name === 'mx4')!;
  assert.ok(fell.training!.diverged && Number.isNaN(fell.loss) && Number.isNaN(fell.accuracy));
  assert.ok(found.rows.some((row) => row.best) && !failed.best && !fell.best);
  assert.equal(found.reference!.costedAs, 'mxint8');
  assert.ok(!found.reference!.best);
  assert.equal(found.loss_tolerance, 0.003);
  const stopped = precisionsReport().precisions!;
  stopped.rows[1].simulation!.stopped = true;
  assert.ok(Number.isNaN(decodePrecisions(stopped).rows[1].loss), 'half-trained recipes have no loss to compare');
});

test('recipes of anything at all are read', () => {
  for (const rows of [
    [],
    [null, 3],
    [{ recipe: 5, simulation: 'x' }],
    [{ simulation: { losses: 'x', measured: [3, {}] } }],
  ])
    assert.ok(Array.isArray(decodePrecisions({ rows }).rows));
  assert.equal(decodePrecisions({ rows: [{ recipe: 'a', failed: 'no' }, { recipe: 'b' }] }).reference?.name, 'b');
});

test('the front: none is beaten, all others are', () => {
  assert.deepEqual(frontOf([3, 1, 2, 2, 5], [1, 4, 2, 3, 1]), [1, 2, 0]);
  assert.deepEqual(frontOf([1, NaN, 2], [NaN, 1, 5]), [2]);
  assert.deepEqual(frontOf([], []), []);
  const random = randomNumbers(3);
  for (let round = 0; round < 50; ++round) {
    const x = Array.from({ length: 12 }, () => Math.floor(random() * 6));
    const y = Array.from({ length: 12 }, () => Math.floor(random() * 6));
    const beaten = (i: number) => x.some((_, k) => x[k] <= x[i] && y[k] <= y[i] && (x[k] < x[i] || y[k] < y[i]));
    const places = (list: number[]) => new Set(list.map((i) => `${x[i]} ${y[i]}`));
    assert.deepEqual(
      places(frontOf(x, y)),
      places(
        x
          .map((_, i) => i)
          .filter((i) => !beaten(i))
          .sort((a, b) => x[a] - x[b]),
      ),
    );
  }
});

test('a smoothed curve is the mean of the last values', () => {
  assert.deepEqual(smoothed([1, 3, 5, 7], 2), [1, 2, 4, 6]);
  assert.deepEqual(smoothed([], 3), []);
});
