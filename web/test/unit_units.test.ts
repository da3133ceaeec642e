// Do numbers read as the program writes them? Expected texts follow from printf's %.4g and the prefixes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  byteSize,
  change,
  clockOf,
  cyclesText,
  energyText,
  factor,
  general,
  grouped,
  percent,
  powerText,
  secondsText,
  timeMarks,
  unitText,
  withPrefix,
} from '../src/base/units';

test('general is printf %.4g', () => {
  const cases: [number, string][] = [
    [0, '0'],
    [1, '1'],
    [12.345678, '12.35'],
    [0.84978, '0.8498'],
    [1234.4, '1234'],
    [12346, '1.235e+04'],
    [99999, '1e+05'],
    [0.0001234, '0.0001234'],
    [0.00001234, '1.234e-05'],
    [-2.5, '-2.5'],
    [9999.6, '1e+04'],
  ];
  for (const [value, text] of cases) assert.equal(general(value), text);
  assert.equal(general(NaN), '–');
});

test('prefixes', () => {
  assert.equal(withPrefix(1814073344), '1.814 G');
  assert.equal(withPrefix(555400000), '555.4 M');
  assert.equal(withPrefix(12), '12');
  assert.equal(byteSize(512), '512 B');
  assert.equal(byteSize(44.59 * 2 ** 20), '44.59 MiB');
  assert.equal(byteSize(1024), '1 KiB');
  assert.equal(byteSize(-1024), '-1 KiB');
  assert.equal(byteSize(NaN), '–');
});

test('cycles and seconds', () => {
  assert.equal(grouped(1814073344), '1,814,073,344');
  assert.equal(cyclesText(9872000), '9,872,000');
  assert.equal(cyclesText(12.5), '12.5');
  assert.equal(secondsText(0.02604315574981081), '26.04 ms');
  assert.equal(secondsText(1.5), '1.5 s');
  assert.equal(secondsText(0.000000405), '0.405 µs');
  assert.equal(clockOf(800e6).text(20834524.6), '26.04 ms');
  assert.equal(clockOf(null).text(12.5), '12.5 cycles');
});

test('energy, power, shares', () => {
  assert.equal(energyText(22131715527), '22.13 mJ');
  assert.equal(energyText(286817858.78), '286.8 µJ');
  assert.equal(energyText(0), '0 pJ');
  assert.equal(powerText(0.8498), '849.8 mW');
  assert.equal(percent(0.1699), '17.0%');
  assert.equal(factor(5.776), '5.78×');
  assert.equal(change(100, 96), '−4.0%');
  assert.equal(change(0, 5), '');
  assert.equal(unitText(2, 'mm2'), '2 mm²');
});

test('marks of a time axis tell neighbours apart', () => {
  assert.deepEqual(timeMarks([0, 0.005, 0.01]), ['0 ms', '5 ms', '10 ms']);
  const near = timeMarks([0.012345, 0.0123451, 0.0123452]);
  assert.equal(new Set(near).size, 3);
});
