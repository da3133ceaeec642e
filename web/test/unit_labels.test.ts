// Do names of points keep off each other?
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { overlap, placeLabels, type Box } from '../src/charts/labels';
import { randomNumbers } from './random';

const within: Box = { left: 0, top: 0, right: 500, bottom: 350 };
const height = 14;
const radius = 5;

function boxesOf(points: { x: number; y: number }[], widths: number[]): (Box | null)[] {
  return placeLabels(points, widths, height, radius, within).map(
    (label, i) =>
      label && { left: label.x, right: label.x + widths[i], top: label.y - height / 2, bottom: label.y + height / 2 },
  );
}

test('a lone point has its name beside it, on the side where there is room', () => {
  const [left] = boxesOf([{ x: 100, y: 100 }], [50]);
  assert.ok(left!.left > 100 && left!.left < 115);
  const [right] = boxesOf([{ x: 495, y: 100 }], [50]);
  assert.ok(right!.right < 495);
});

test('names cover no other name, no point, and stay inside', () => {
  for (let seed = 1; seed <= 40; ++seed) {
    const random = randomNumbers(seed);
    // Half of them in one crowd.
    const points = Array.from({ length: 20 }, (_, i) =>
      i < 10 ? { x: 100 + 60 * random(), y: 250 + 40 * random() } : { x: 20 + 460 * random(), y: 20 + 310 * random() },
    );
    const widths = points.map(() => 30 + 60 * random());
    const boxes = boxesOf(points, widths);
    assert.ok(
      boxes.every((box) => box !== null),
      `seed ${seed}`,
    );
    boxes.forEach((box, i) => {
      assert.ok(box!.left >= 0 && box!.right <= 500 && box!.top >= 0 && box!.bottom <= 350);
      boxes.forEach((other, k) => assert.ok(k === i || !overlap(box!, other!), `seed ${seed}: ${i} and ${k}`));
      for (const p of points)
        assert.ok(!overlap(box!, { left: p.x - radius, right: p.x + radius, top: p.y - radius, bottom: p.y + radius }));
    });
  }
});

test('where there is no room a name is left out', () => {
  assert.deepEqual(placeLabels([{ x: 10, y: 10 }], [900], height, radius, within), [null]);
  assert.deepEqual(placeLabels([], [], height, radius, within), []);
});
