// Is what a lane shows at a zoom right, and bounded by pixels?
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { binaryTicks, linearTicks, logTicks } from '../src/charts/ticks';
import { clamped, zoomed } from '../src/charts/view';
import type { Lane } from '../src/decode/schedule';
import { eventAt, subset, visible } from '../src/schedule/detail';
import { randomNumbers } from './random';

function laneOf(spans: [number, number][]): { lane: Lane; times: { start: Float64Array; end: Float64Array } } {
  const times = { start: Float64Array.from(spans, (s) => s[0]), end: Float64Array.from(spans, (s) => s[1]) };
  const lane = { events: Int32Array.from(spans, (_, k) => k), busy: new Float64Array(spans.length + 1) };
  spans.forEach(([from, to], k) => (lane.busy[k + 1] = lane.busy[k] + to - from));
  return { lane, times };
}

function randomSpans(count: number, seed: number): [number, number][] {
  const random = randomNumbers(seed);
  const spans: [number, number][] = [];
  let at = 0;
  for (let k = 0; k < count; ++k) {
    const from = at + Math.floor(random() * 20);
    at = from + 1 + Math.floor(random() * random() * 200);
    spans.push([from, at]);
  }
  return spans;
}

test('wide events are drawn as they are', () => {
  const { lane, times } = laneOf([
    [0, 10],
    [20, 40],
    [50, 100],
  ]);
  const seen: number[][] = [];
  visible(lane, times, { from: 0, to: 100 }, 100, (event, x, width) => seen.push([event, x, width]));
  assert.deepEqual(seen, [
    [0, 0, 10],
    [1, 20, 20],
    [2, 50, 50],
  ]);
});

test('events outside the window are left out, those across its edge are cut', () => {
  const { lane, times } = laneOf([
    [0, 10],
    [20, 40],
    [50, 100],
  ]);
  const seen: number[][] = [];
  visible(lane, times, { from: 30, to: 50 }, 100, (event, x, width) => seen.push([event, x, width]));
  assert.deepEqual(seen, [[1, 0, 50]]);
});

test('bars are bounded by pixels, and their area is the time that events take', () => {
  for (const seed of [1, 2, 3]) {
    const spans = randomSpans(20000, seed);
    const { lane, times } = laneOf(spans);
    const total = spans[spans.length - 1][1];
    const busy = spans.reduce((sum, [from, to]) => sum + to - from, 0);
    for (const width of [50, 400, 1300]) {
      let area = 0;
      let events = 0;
      const drawn = visible(lane, times, { from: 0, to: total }, width, (_event, _x, w, coverage, merged) => {
        area += w * coverage;
        events += merged;
      });
      assert.ok(drawn <= 2 * width + 1, `${drawn} bars in ${width} pixels`);
      assert.equal(events, spans.length);
      // One pixel with several events can be filled more than once, by its neighbours' ends.
      assert.ok(Math.abs((area / width) * total - busy) <= 0.02 * busy + (2 * total) / width);
    }
  }
});

test('any window shows just the events that touch it', () => {
  const spans = randomSpans(400, 9);
  const { lane, times } = laneOf(spans);
  const total = spans[spans.length - 1][1];
  const random = randomNumbers(4);
  for (let round = 0; round < 200; ++round) {
    const from = random() * total;
    const to = from + 1 + random() * (total - from);
    let events = 0;
    visible(lane, times, { from, to }, 5000000, (_e, _x, _w, _c, merged) => (events += merged));
    assert.equal(events, spans.filter(([a, b]) => b > from && a < to).length);
  }
});

test('the event under the pointer', () => {
  const { lane, times } = laneOf([
    [0, 10],
    [20, 40],
  ]);
  assert.equal(eventAt(lane, times, 5, 0), 0);
  assert.equal(eventAt(lane, times, 15, 0), -1);
  assert.equal(eventAt(lane, times, 18, 3), 1);
  assert.equal(eventAt(lane, times, 11, 3), 0);
  assert.deepEqual([...subset(lane, times, (event) => event === 1).busy], [0, 20]);
});

test('a window stays inside, and a place stays under the pointer', () => {
  assert.deepEqual(clamped({ from: -10, to: 20 }, 0, 100, 1), { from: 0, to: 30 });
  assert.deepEqual(clamped({ from: 90, to: 120 }, 0, 100, 1), { from: 70, to: 100 });
  assert.deepEqual(clamped({ from: 50, to: 50 }, 0, 100, 2), { from: 50, to: 52 });
  assert.deepEqual(zoomed({ from: 0, to: 100 }, 0.5, 20), { from: 10, to: 60 });
});

test('marks of axes', () => {
  assert.deepEqual(linearTicks(0, 10, 5), [0, 2, 4, 6, 8, 10]);
  assert.deepEqual(binaryTicks(0, 100, 4), [0, 32, 64, 96]);
  assert.deepEqual(logTicks(1, 1000, 3), [1, 10, 100, 1000]);
  assert.deepEqual(linearTicks(NaN, 1, 5), []);
  assert.deepEqual(logTicks(0, 1, 5), []);
});
