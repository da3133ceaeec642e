// Does the page of an evaluation draw everything, and answer to wheel, pointer, keys and words?
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { attribute, coloursDrawn, launch, open, pageOf, settled } from './browser';
import { doesNotFitReport, largeReport, resultOnlyReport, smallReport } from './report_data';

let browser: Browser;
before(async () => (browser = await launch()));
after(async () => browser?.close());

const chart = '#schedule .schedule-scroll canvas';

async function span(page: Page): Promise<[number, number]> {
  await settled(page);
  const [from, to] = (await attribute(page, chart, 'data-span')).split(' ').map(Number);
  return [from, to];
}

for (const dark of [false, true]) {
  for (const width of [1400, 700]) {
    test(`every section is drawn, ${dark ? 'dark' : 'light'}, ${width} pixels wide`, async () => {
      const { page, problems } = await open(browser, pageOf('small', smallReport()), { dark, width });
      assert.deepEqual(await page.$$eval('section', (all) => all.map((one) => one.id)), [
        'summary',
        'schedule',
        'memory',
        'breakdown',
        'roofline',
        'operators',
        'graph',
        'assumptions',
      ]);
      assert.equal(await page.getAttribute('html', 'data-theme'), dark ? 'dark' : 'light');
      for (const section of ['schedule', 'memory', 'roofline', 'graph']) {
        const drawn = await coloursDrawn(page, `#${section}`);
        assert.ok(drawn.length > 0 && drawn.every((colours) => colours > 4), `${section}: ${drawn}`);
      }
      assert.equal(await page.$$eval('.notice', (all) => all.length), 0);
      assert.match(
        await page.innerText('#summary'),
        /fits[\s\S]*Latency[\s\S]*vs the bound[\s\S]*2\.50×[\s\S]*vs inference[\s\S]*5\.78×/,
      );
      // Nothing sticks out to the side.
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
      assert.deepEqual(problems, []);
      await page.close();
    });
  }
}

test('the schedule is zoomed and moved by wheel, drag, buttons and keys', async () => {
  const { page, problems } = await open(browser, pageOf('small', smallReport()));
  const [start, end] = await span(page);
  await page.locator(chart).scrollIntoViewIfNeeded();
  const box = (await page.locator(chart).boundingBox())!;
  await page.mouse.move(box.x + 600, box.y + 60);
  const scrolled = await page.evaluate(() => scrollY);
  await page.mouse.wheel(0, -300); // no focus yet: the page scrolls, the chart does not zoom
  assert.deepEqual(await span(page), [start, end]);
  await page.evaluate((y) => scrollTo(0, y), scrolled);
  await page.locator(chart).focus();
  await page.mouse.wheel(0, -400);
  const zoomed = await span(page);
  assert.ok(zoomed[1] - zoomed[0] < (end - start) * 0.8, String(zoomed));
  const again = (await page.locator(chart).boundingBox())!;
  await page.mouse.move(again.x + 700, again.y + 60);
  await page.mouse.down();
  await page.mouse.move(again.x + 500, again.y + 60, { steps: 4 });
  await page.mouse.up();
  assert.ok((await span(page))[0] > zoomed[0]);
  await page.keyboard.press('0');
  assert.deepEqual(await span(page), [start, end]);
  await page.keyboard.press('+');
  await page.keyboard.press('ArrowRight');
  assert.ok((await span(page))[0] > start);
  await page.click('#schedule button:has-text("Fit")');
  assert.deepEqual(await span(page), [start, end]);
  // A drag over the time axis shows that part of time.
  const head = (await page.locator('#schedule .schedule-head canvas').boundingBox())!;
  await page.mouse.move(head.x + 400, head.y + head.height - 12);
  await page.mouse.down();
  await page.mouse.move(head.x + 600, head.y + head.height - 12, { steps: 4 });
  await page.mouse.up();
  const part = await span(page);
  assert.ok(part[0] > start && part[1] < end, String(part));
  assert.deepEqual(problems, []);
  await page.close();
});

test('hover names a tile, a click pins it with its chain, words find operators', async () => {
  const { page, problems } = await open(browser, pageOf('small', smallReport()));
  await page.fill('#schedule .search', 'matmul33');
  await page.keyboard.press('Enter'); // a tile on the first core that has one, in the middle of the chart
  await settled(page);
  assert.match(await page.innerText('#schedule .details'), /layer5\.matmul33 \[5\][\s\S]*MatMul[\s\S]*backward/);
  await page.fill('#schedule .search', '');
  const box = (await page.locator(chart).boundingBox())!;
  const gutter = 168;
  await page.mouse.move(box.x + gutter + (box.width - gutter) / 2, box.y + 22 + 11); // under the heading
  await page.waitForSelector('.tooltip:not([hidden])');
  assert.match(
    await page.innerText('.tooltip'),
    /layer5\.matmul33 \[5\][\s\S]*tile\s+6 of 6[\s\S]*takes[\s\S]*cycles\)[\s\S]*waited for/,
  );
  await page.fill('#schedule .search', 'add4');
  await page.keyboard.press('Enter');
  await settled(page);
  assert.match(await page.innerText('#schedule .details'), /It used the result of[\s\S]*matmul3/);
  assert.ok((await page.$$('#schedule .details .chain li')).length >= 2);
  await page.locator(chart).focus();
  await page.keyboard.press('Escape');
  assert.match(await page.innerText('#schedule .details'), /Click a bar/);
  assert.deepEqual(problems, []);
  await page.close();
});

test('groups fold, idle tracks and the critical path are switched, colours change', async () => {
  const { page, problems } = await open(browser, pageOf('small', smallReport()));
  const height = async () => {
    await settled(page);
    return (await page.locator(chart).boundingBox())!.height;
  };
  const all = await height();
  await page.click('#schedule label:has-text("Memory ports")');
  const folded = await height();
  assert.ok(folded < all);
  await page.click('#schedule label:has-text("Idle tracks")');
  assert.ok((await height()) > folded);
  const plain = await page.locator(chart).screenshot();
  await page.click('#schedule label:has-text("Critical path")');
  await settled(page);
  assert.notDeepEqual(await page.locator(chart).screenshot(), plain);
  for (const mode of ['phase', 'operator', 'kind']) {
    await page.selectOption('#schedule select', mode);
    await settled(page);
    assert.ok((await page.$$('#schedule .legend .swatch')).length >= 3, mode);
  }
  assert.deepEqual(problems, []);
  await page.close();
});

test('tables are filtered and sorted, the roofline leads to an operator', async () => {
  const { page, problems } = await open(browser, pageOf('small', smallReport()));
  await page.fill('#operators .search', 'adamupdate');
  assert.ok(
    (await page.$$eval('#operators tbody tr', (rows) => rows.map((row) => row.textContent ?? ''))).every((row) =>
      row.includes('AdamUpdate'),
    ),
  );
  await page.fill('#operators .search', 'no such operator');
  assert.match(await page.innerText('#operators .table-foot'), /Nothing matches/);
  await page.fill('#operators .search', '');
  await page.click('#operators th button:has-text("energy")');
  assert.equal(await page.getAttribute('#operators th:last-child', 'aria-sort'), 'descending');
  await page.click('#operators tbody tr');
  assert.match(await page.innerText('#operators .details'), /core time/);
  await page.locator('#roofline canvas').scrollIntoViewIfNeeded();
  const box = (await page.locator('#roofline canvas').boundingBox())!;
  // Somewhere in the picture where a point of the forward part is drawn.
  const place = await page.$eval('#roofline canvas', (element) => {
    const canvas = element as HTMLCanvasElement;
    const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height);
    for (let i = 0; i < data.length; i += 4) {
      if (data[i + 2] - data[i] > 90 && data[i + 3] > 150)
        return {
          x: ((i / 4) % canvas.width) / devicePixelRatio,
          y: Math.floor(i / 4 / canvas.width) / devicePixelRatio,
        };
    }
    return null;
  });
  assert.ok(place);
  await page.mouse.move(box.x + place.x, box.y + place.y + 2);
  const name = (await page.innerText('.tooltip strong')).trim();
  assert.match(await page.innerText('.tooltip'), /MACs per cycle[\s\S]*of the peak/);
  await page.mouse.click(box.x + place.x, box.y + place.y + 2);
  assert.equal(await page.inputValue('#operators .search'), name);
  assert.deepEqual(problems, []);
  await page.close();
});

test('memory: values under the pointer, other memories, addresses', async () => {
  const { page, problems } = await open(browser, pageOf('small', smallReport()));
  await page.locator('#memory .u-over').scrollIntoViewIfNeeded();
  await page.locator('#memory .u-over').hover();
  assert.match(await page.innerText('.tooltip'), /MiB at[\s\S]*optimizer state[\s\S]*20\.98 MiB/);
  assert.match(await page.innerText('#memory'), /Alive at the peak of dram/);
  const map = page.locator('#memory .address-map canvas');
  await map.scrollIntoViewIfNeeded();
  const rects = async () => {
    await settled(page);
    return Number(await attribute(page, '#memory .address-map canvas', 'data-rects'));
  };
  const all = await rects();
  assert.ok(all > 20);
  await map.click();
  await page.keyboard.press('+');
  await page.keyboard.press('+');
  await page.keyboard.press('+');
  assert.ok((await rects()) < all);
  await page.selectOption('#memory select', 'pe0_0/sram');
  assert.match(await page.innerText('#memory .notice'), /Nothing in pe0_0\/sram has an address/);
  assert.deepEqual(problems, []);
  await page.close();
});

test('the graph is searched, a node tells its numbers', async () => {
  const { page, problems } = await open(browser, pageOf('small', smallReport()));
  await page.fill('#graph .search', 'layer5.');
  await settled(page);
  assert.match(await page.innerText('#graph .controls'), /6 nodes/);
  await page.keyboard.press('Enter');
  assert.match(await page.innerText('#graph .details'), /layer5\.conv30[\s\S]*core time[\s\S]*Reads[\s\S]*Makes/);
  await page.click('#graph .details .chain .link');
  assert.match(await page.innerText('#graph .details h4'), /layer4|layer5/);
  const before = Number(await attribute(page, '#graph canvas', 'data-scale'));
  await page.locator('#graph canvas').focus();
  await page.keyboard.press('+');
  await settled(page);
  assert.ok(Number(await attribute(page, '#graph canvas', 'data-scale')) > before);
  await page.click('#graph button:has-text("Fit")');
  await settled(page);
  assert.equal(Number(await attribute(page, '#graph canvas', 'data-nodes')), 90);
  assert.deepEqual(problems, []);
  await page.close();
});

test('light and dark are switched, and charts follow', async () => {
  const { page, problems } = await open(browser, pageOf('small', smallReport()));
  const light = await page.locator(chart).screenshot();
  await page.click('button:has-text("Dark")');
  await settled(page);
  assert.equal(await page.getAttribute('html', 'data-theme'), 'dark');
  assert.notDeepEqual(await page.locator(chart).screenshot(), light);
  await page.click('button:has-text("Light")');
  assert.equal(await page.getAttribute('html', 'data-theme'), 'light');
  assert.deepEqual(problems, []);
  await page.close();
});

test('100,000 tiles: what a frame draws is bounded by pixels and tracks', async () => {
  const data = largeReport();
  const { page, problems } = await open(browser, pageOf('large', data));
  const events = data.evaluations[0].schedule!.start.length;
  assert.ok(data.evaluations[0].result.tiles >= 100000);
  await page.locator(chart).focus();
  const box = (await page.locator(chart).boundingBox())!;
  const lanes = data.evaluations[0].schedule!.tracks.reduce((total, track) => total + track.lanes, 0);
  const frames: string[] = [];
  for (let step = 0; step < 12; ++step) {
    await page.keyboard.press('+');
    await settled(page);
    const rects = Number(await attribute(page, chart, 'data-rects'));
    assert.ok(rects > 0 && rects <= 2 * box.width * lanes, `${rects} bars`);
    frames.push(`${rects} bars ${await attribute(page, chart, 'data-frame-ms')} ms`);
  }
  console.log(`${events} events, frames while zooming in: ${frames.join(', ')}`);
  assert.deepEqual(problems, []);
  await page.close();
});

test('a result alone, and one that does not fit', async () => {
  const alone = await open(browser, pageOf('alone', resultOnlyReport()));
  const notices = await alone.page.$$eval('.notice', (all) => all.map((one) => one.textContent));
  assert.equal(notices.length, 3); // schedule, addresses, graph
  assert.ok(notices.every((text) => text?.includes('made from result.json alone')));
  assert.deepEqual(alone.problems, []);
  const full = await open(browser, pageOf('full', doesNotFitReport()));
  assert.match(await full.page.innerText('#summary'), /does not fit[\s\S]*dram needs[\s\S]*recompute all activations/);
  assert.deepEqual(full.problems, []);
  await alone.page.close();
  await full.page.close();
});

test('it prints', async () => {
  const { page, problems } = await open(browser, pageOf('small', smallReport()), { dark: true });
  const pdf = await page.pdf({ preferCSSPageSize: true, printBackground: true });
  assert.equal(pdf.subarray(0, 5).toString(), '%PDF-');
  assert.ok(pdf.length > 50000, String(pdf.length));
  await settled(page);
  assert.equal(await page.getAttribute('html', 'data-theme'), 'dark'); // back from paper
  assert.deepEqual(problems, []);
  await page.close();
});
