// Pages of plans, explorations and comparisons; damaged data; and the program's own pages, where given.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { attribute, coloursDrawn, launch, open, pageOf, pageOfText, settled } from './browser';
import { comparisonReport, explorationReport, plansReport, precisionsReport, smallReport } from './report_data';

let browser: Browser;
before(async () => (browser = await launch()));
after(async () => browser?.close());

test('plans: axes, selection by a drag, a plan with its file', async () => {
  const { page, problems } = await open(browser, pageOf('plans', plansReport()));
  assert.equal(Number(await attribute(page, '#plans .plot', 'data-points')), 25);
  assert.ok((await coloursDrawn(page, '#plans'))[0] > 4);
  const box = (await page.locator('#plans .u-over').boundingBox())!;
  await page.mouse.move(box.x + 2, box.y + 2);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height - 2, { steps: 6 });
  await page.mouse.up();
  await settled(page);
  const selected = Number(/(\d+) of 25 selected/.exec(await page.innerText('#plans'))?.[1]);
  assert.ok(selected > 3 && selected < 25);
  assert.equal((await page.$$('#plans tbody tr')).length, Math.min(selected, 20));
  await page.mouse.click(box.x + 4, box.y + box.height - 4);
  assert.equal((await page.$$('#plans tbody tr')).length, 20);
  await page.click('#plans tbody tr:has-text("plan_5.yaml")');
  assert.match(await page.innerText('#plans .details'), /plan_5\.yaml[\s\S]*Why[\s\S]*Recomputed \(4\)/);
  await page.click('#plans .details summary:has-text("file")');
  assert.match(await page.innerText('#plans .details pre'), /recompute:/);
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.click('#plans .details button:has-text("Download")'),
  ]);
  assert.equal(download.suggestedFilename(), 'plan_5.yaml');
  await page.click('#plans .details button:has-text("Copy")');
  await page.waitForSelector('#plans .details button:has-text("Copied")');
  await page.selectOption('#plans select >> nth=0', 'energy_pj');
  await settled(page);
  assert.equal(Number(await attribute(page, '#plans .plot', 'data-points')), 25);
  assert.deepEqual(problems, []);
  await page.close();
});

test('10,000 designs: axes, colours, filters, selection, a design with its command', async () => {
  const { page, problems } = await open(browser, pageOf('exploration', explorationReport()));
  assert.deepEqual(await page.$$eval('section', (all) => all.map((one) => one.id)), [
    'exploration',
    'designs',
    'analysis',
  ]);
  assert.equal(Number(await attribute(page, '#designs .plot', 'data-points')), 10000);
  // Leaving out a value of a parameter leaves out its designs.
  const ones = explorationReport().exploration!.designs.parameters[0].filter((value) => value === 0).length;
  await page.click('#designs .histogram:has(legend:text-is("x")) .value:has-text("1") >> nth=0');
  await settled(page);
  assert.equal(Number(await attribute(page, '#designs .plot', 'data-points')), 10000 - ones);
  assert.match(
    await page.innerText('#designs'),
    new RegExp(`${(10000 - ones).toLocaleString('en-US')} designs selected`),
  );
  await page.click('#designs button:has-text("Reset")');
  await settled(page);
  assert.equal(Number(await attribute(page, '#designs .plot', 'data-points')), 10000);
  const box = (await page.locator('#designs .u-over').boundingBox())!;
  await page.mouse.move(box.x + 2, box.y + 2);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width / 3, box.y + box.height - 2, { steps: 6 });
  await page.mouse.up();
  await settled(page);
  const selected = Number(/([\d,]+) designs selected/.exec(await page.innerText('#designs'))?.[1].replaceAll(',', ''));
  assert.ok(selected > 0 && selected < 10000, String(selected));
  await page.click('#designs tbody tr');
  assert.match(await page.innerText('#designs .details'), /Design \d+[\s\S]*Parameters[\s\S]*--set x=\d/);
  for (const [which, key] of [
    [0, 'inference'],
    [1, 'p4'],
    [2, 'm2'],
    [3, 'p0'],
  ] as const) {
    await page.selectOption(`#designs .controls select >> nth=${which}`, key);
    await settled(page);
    assert.ok((await coloursDrawn(page, '#designs'))[0] > 4, key);
  }
  assert.match(
    await page.innerText('#analysis'),
    /What decides latency[\s\S]*rank correlation[\s\S]*0\.870[\s\S]*Failures[\s\S]*conv1 has no core/i,
  );
  assert.deepEqual(problems, []);
  await page.close();
});

test('a comparison: what changed, and both evaluations', async () => {
  const { page, problems } = await open(browser, pageOf('comparison', comparisonReport()));
  assert.match(
    await page.innerText('#comparison'),
    /What changed latency[\s\S]*compute[\s\S]*−[\d.]+ µs[\s\S]*Assumptions that differ[\s\S]*batch/,
  );
  assert.ok(await page.isVisible('#a-summary'));
  await page.click('[role=tab]:has-text("out/b")');
  await settled(page);
  assert.ok(!(await page.isVisible('#a-summary')) && (await page.isVisible('#b-summary')));
  assert.ok((await coloursDrawn(page, '#b-schedule')).every((colours) => colours > 4));
  await page.keyboard.press('ArrowLeft');
  assert.ok(await page.isVisible('#a-summary'));
  assert.ok((await page.pdf({ preferCSSPageSize: true })).length > 50000);
  assert.deepEqual(problems, []);
  await page.close();
});

test('recipes: two charts, a table and curves that pick together', async () => {
  for (const dark of [false, true]) {
    const { page, problems } = await open(browser, pageOf('recipes', precisionsReport()), { dark });
    assert.deepEqual(await page.$$eval('section', (all) => all.map((one) => one.id)), ['recipes', 'curves']);
    // All but the one that cannot run and the one that came apart; each with its name.
    const drawn = await page.$$eval('#recipes .plot', (all) =>
      all.map((one) => [(one as HTMLElement).dataset.points, (one as HTMLElement).dataset.names]),
    );
    assert.deepEqual(drawn, [
      ['15', '15'],
      ['15', '15'],
    ]);
    assert.ok((await coloursDrawn(page, 'section')).every((colours) => colours > 4));
    assert.match(
      await page.innerText('#recipes'),
      /Not in the charts[\s\S]*mx4 training came apart[\s\S]*tin-tin cannot run: no core/,
    );
    assert.equal((await page.$$('#recipes tbody tr')).length, 17);
    const words = await page.innerText('#recipes');
    assert.match(words, /fp32 hardly learned/);
    assert.match(words, /costed as mxint8/);
    assert.match(words, /Losses within 0.003 count as equal on the front: so far apart are seeds 1 and 2 of fp32/);
    assert.ok(!(await page.isVisible('#recipes details.fold li')), 'notes are folded');
    assert.ok(
      await page.$eval('#recipes .table-scroll', (one) => one.scrollWidth <= one.clientWidth),
      'the last column is seen',
    );
    // By keyboard: a row, then the same again.
    await page.focus('#recipes tbody tr:has-text("mxfp6") >> nth=0');
    await page.keyboard.press('Enter');
    await settled(page);
    assert.equal((await page.$$('#recipes tr.marked')).length, 1);
    assert.match(await page.innerText('#recipes .details'), /mxfp6[\s\S]*held-out loss[\s\S]*quantized copies/);
    await page.selectOption('#recipes select', 'accuracy');
    await settled(page);
    assert.equal(await attribute(page, '#recipes .plot', 'data-points'), '15');
    assert.equal(await attribute(page, '#curves .plot', 'data-curves'), '17');
    await page.click('#curves button:has-text("mxfp4")');
    await settled(page);
    assert.equal(await attribute(page, '#curves .plot', 'data-curves'), '16');
    assert.equal(await attribute(page, '#curves button:has-text("mxfp4")', 'aria-pressed'), 'false');
    for (const what of ['difference', 'training', 'held-out']) {
      await page.selectOption('#curves select', what);
      await settled(page);
      assert.ok((await coloursDrawn(page, '#curves'))[0] > 4, what);
    }
    await page.click('#curves button:has-text("None")');
    await settled(page);
    assert.equal(await attribute(page, '#curves .plot', 'data-curves'), '1');
    const box = (await page.locator('#curves .u-over').boundingBox())!;
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    assert.match(await page.innerText('.tooltip'), /step 1?\d\d[\s\S]*fp32/);
    assert.ok((await page.pdf({ preferCSSPageSize: true })).length > 40000);
    assert.deepEqual(problems, []);
    await page.close();
  }
});

test('recipes without accuracy: energy against memory', async () => {
  const { page, problems } = await open(browser, pageOf('recipes-costs', precisionsReport(false)));
  assert.deepEqual(await page.$$eval('section', (all) => all.map((one) => one.id)), ['recipes']);
  assert.equal((await page.$$('#recipes .plot')).length, 1);
  assert.equal(await attribute(page, '#recipes .plot', 'data-points'), '16');
  assert.ok(!/accuracy \(/.test(await page.innerText('#recipes thead')));
  assert.deepEqual(problems, []);
  await page.close();
});

test('names with markup stay words', async () => {
  const data = smallReport();
  data.title = '<img src=x onerror=alert(1)></script><b>';
  data.evaluations[0].result.operators[0].name = '<b>bold</b>';
  const { page, problems } = await open(browser, pageOf('markup', data));
  assert.equal(await page.innerText('h1'), data.title);
  assert.equal((await page.$$('img, #operators b')).length, 0);
  assert.deepEqual(problems, []);
  await page.close();
});

test('damaged data give notices, never a blank page', async () => {
  const damages: [string, (data: Record<string, any>) => void, RegExp][] = [
    ['columns', (d) => d.evaluations[0].schedule.length.pop(), /“length” has \d+ entries where \d+ are due/],
    ['tracks', (d) => (d.evaluations[0].schedule.tracks = 5), /tracks of the schedule have 0 events/],
    ['lifetimes', (d) => (d.evaluations[0].lifetimes = 'x'), /lifetimes have no column/],
    ['graph', (d) => (d.evaluations[0].graph.tensors = null), /column “from” is missing|could not be shown/],
    ['operators', (d) => (d.evaluations[0].result.operators = {}), /lists no operators/],
    [
      'memories',
      (d) => (d.evaluations[0].result.memories = [null, 4, { curve: { at: [1], bytes: [] } }]),
      /different number/,
    ],
    [
      'numbers',
      (d) => Object.keys(d.evaluations[0].result).forEach((key) => (d.evaluations[0].result[key] = null)),
      /lists no memory/,
    ],
    ['result', (d) => (d.evaluations[0].result = undefined), /lists no operators/],
    ['none', (d) => (d.evaluations = []), /holds no results/],
    ['schema', (d) => (d.schema = 7), /schema 7/],
    ['plans', (d) => (d.plans = { plans: 'x' }), /no list of plans/],
    [
      'exploration',
      (d) => (d.exploration = { designs: { id: [1, 2] }, metrics: [{ name: 'm' }] }),
      /“metric m” is missing/,
    ],
    ['comparison', (d) => (d.comparison = []), /comparison has no rows/],
    ['precisions', (d) => (d.precisions = { rows: 3 }), /holds no recipes/],
  ];
  for (const [name, damage, words] of damages) {
    const data = JSON.parse(JSON.stringify(smallReport()));
    damage(data);
    const { page, problems } = await open(browser, pageOf(`damaged-${name}`, data));
    const notices = (await page.$$eval('.notice', (all) => all.map((one) => one.textContent))).join('\n');
    assert.match(notices, words, name);
    assert.deepEqual(problems, [], name);
    await page.close();
  }
  for (const [name, text] of [
    ['cut', '{"schema": 1, "title": "x'],
    ['empty', ''],
    ['unfilled', '/*DATA*/'],
    ['list', '[]'],
    ['null', 'null'],
  ]) {
    const { page, problems } = await open(browser, pageOfText(`damaged-${name}`, text));
    assert.match(await page.innerText('.notice'), /cannot be read|no results/, name);
    assert.deepEqual(problems, [], name);
    await page.close();
  }
});

const given = process.env.MONET_PAGES;
for (const name of given
  ? readdirSync(given)
      .filter((file) => file.endsWith('.html'))
      .sort()
  : []) {
  test(`the program's page ${name}`, async () => {
    for (const dark of [false, true]) {
      const { page, problems } = await open(browser, path.join(given!, name), { dark });
      assert.equal(await page.$$eval('.notice', (all) => all.map((one) => one.textContent).join('\n')), '');
      assert.ok((await page.$$('section')).length > 0);
      const drawn = await coloursDrawn(page, 'section:visible');
      assert.ok(drawn.length > 0 && drawn.every((colours) => colours > 2), String(drawn));
      assert.ok((await page.pdf({ preferCSSPageSize: true })).length > 20000);
      assert.deepEqual(problems, []);
      await page.close();
    }
  });
}
