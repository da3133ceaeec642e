// The page of `monet serve` against a server that runs: from a dropped file to a saved plan.
import { strict as assert } from 'node:assert';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { launch } from './browser';

const url = process.env.MONET_URL ?? '';
const network = process.env.MONET_ONNX ?? '';

let browser: Browser;
let page: Page;
const problems: string[] = [];

before(async () => {
  browser = await launch();
  page = await browser.newPage({ viewport: { width: 1400, height: 900 }, acceptDownloads: true });
  page.setDefaultTimeout(120000);
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('console', (message) => {
    // A refused request is told on the page, and by the browser.
    if (message.type() === 'error' && !message.text().includes('status of 4')) problems.push(message.text());
  });
});
after(async () => browser.close());

const words = () => page.locator('#result code.words').innerText();
const idle = () => page.waitForFunction(() => !document.body.hasAttribute('aria-busy'));

async function drop(name: string, content: Buffer): Promise<void> {
  const transfer = await page.evaluateHandle(
    ([file, bytes]) => {
      const data = new DataTransfer();
      data.items.add(new File([Uint8Array.from(atob(bytes), (c) => c.charCodeAt(0))], file));
      return data;
    },
    [name, content.toString('base64')],
  );
  await page.dispatchEvent('.drop', 'drop', { dataTransfer: transfer });
}

test('a newcomer sees a diagnosis at once', async () => {
  await page.goto(url);
  await page.waitForSelector('#result .diagnosis li');
  assert.match(await words(), /^monet evaluate resnet18-cifar --hardware edge_tpu/);
});

test('a file that is dropped is evaluated', async () => {
  await drop('mine.onnx', readFileSync(network));
  await page.waitForFunction(() => document.querySelector('#result code.words')?.textContent?.includes('mine.onnx'));
  await idle();
  assert.ok((await page.locator('#history tr').count()) >= 2);
});

test('what is no network is told', async () => {
  await drop('bad.onnx', Buffer.from('this is no network'));
  await page.waitForFunction(() => (document.querySelector('.mistake')?.textContent ?? '') !== '');
  assert.match(await words(), /mine\.onnx/);
});

test('a slider evaluates as it moves', async () => {
  const before_ = await page.locator('#tried circle').count();
  const slider = page.locator('.slider input').first();
  const begin = Date.now();
  await slider.press('ArrowRight');
  await page.waitForFunction(() => document.querySelector('#result code.words')?.textContent?.includes('--set'));
  console.log(`a slider: ${Date.now() - begin} ms`);
  await idle();
  assert.equal(await page.locator('#tried circle').count(), before_ + 3, 'latency, energy and memory');
});

test('the line of a mistake in a machine is selected', async () => {
  await page.locator('details summary', { hasText: 'Edit as YAML' }).click();
  const editor = page.locator('textarea');
  const text = await editor.inputValue();
  const lines = text.split('\n');
  lines.splice(3, 0, 'colour: red');
  await editor.fill(lines.join('\n'));
  await page.getByRole('button', { name: 'Check the text and use it' }).click();
  await page.waitForFunction(() => (document.querySelector('.mistake')?.textContent ?? '').includes('colour'));
  const selected = await editor.evaluate((area: HTMLTextAreaElement) => area.value.slice(area.selectionStart, area.selectionEnd));
  assert.equal(selected, 'colour: red');
  await page.getByRole('button', { name: 'Forget the changes' }).click();
  await idle();
});

test('a search gives a plan that is saved', async () => {
  await page.click('#evaluate');
  await idle();
  await page.getByRole('button', { name: 'Search for stacks' }).click();
  await page.waitForSelector('#jobs .job .badge.good');
  const [saved] = await Promise.all([page.waitForEvent('download'), page.locator('#jobs a.plan').first().click()]);
  const plan = readFileSync(await saved.path(), 'utf8');
  assert.match(plan, /plan: 1|stacks|order/);
});

test('runs stand side by side, and a link opens the view again', async () => {
  await page.waitForFunction(() => document.querySelectorAll('#history input[type=checkbox]').length >= 3);
  const ticks = page.locator('#history input[type=checkbox]');
  await ticks.nth(0).check();
  await ticks.nth(1).check();
  await page.getByRole('button', { name: 'What differs between those that are ticked' }).click();
  await page.waitForSelector('.side-by-side .one:nth-child(2) .cards');
  assert.ok((await page.locator('#result .cards').count()) >= 3, 'a column each, and what changed');
  const link = (await page.locator('#result a.view-link').getAttribute('href')) ?? '';
  const other = await browser.newPage();
  await other.goto(new URL(link, url).href);
  await other.waitForSelector('.side-by-side .one:nth-child(2) .cards');
  await other.close();
});

test('an exploration shows its front, pauses, goes on and stops', async () => {
  await page.locator('details.explore summary').click();
  await page.getByLabel('Space', { exact: true }).selectOption('mcu');
  await page.getByLabel('Designs', { exact: true }).fill('400');
  await page.getByRole('button', { name: 'Search for the best machines of the space' }).click();
  await page.waitForFunction(() => /^[1-9]/.test(document.querySelector('#front .count')?.textContent ?? ''));
  const job = page.locator('#jobs .job').first();
  assert.match(await job.innerText(), /monet explore mcu --network mine\.onnx/);
  if (await job.getByRole('button', { name: 'Stay where it is' }).count()) {
    await job.getByRole('button', { name: 'Stay where it is' }).click();
    await page.waitForFunction(() => /paused|done/.test(document.querySelector('#jobs .job')?.textContent ?? ''));
    if (await job.getByRole('button', { name: 'Go on' }).count()) await job.getByRole('button', { name: 'Go on' }).click();
  }
  await page.waitForFunction(() => /done|stopped/.test(document.querySelector('#jobs .job .badge')?.textContent ?? ''));
});

test('the page had no errors of its own', () => assert.deepEqual(problems, []));
