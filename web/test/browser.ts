// A real browser, and pages in it that are watched for errors and for anything that wants a network.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium, type Browser, type Page } from 'playwright-core';

const folder = process.env.MONET_TEST_FOLDER ?? '.';
const template = readFileSync(process.env.MONET_TEST_PAGE ?? 'dist/page.html', 'utf8');

export async function launch(): Promise<Browser> {
  return chromium.launch({
    executablePath: process.env.MONET_CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
  });
}

// As the program does it.
export function pageOf(name: string, data: unknown): string {
  return pageOfText(name, JSON.stringify(data).replaceAll('<', '\\u003c'));
}

export function pageOfText(name: string, text: string): string {
  const file = path.join(folder, 'pages', `${name}.html`);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(
    file,
    template.replace('/*DATA*/', () => text),
  );
  return file;
}

export interface Watched {
  page: Page;
  problems: string[]; // errors of the page, and requests beyond its own file
}

export async function open(
  browser: Browser,
  file: string,
  options: { width?: number; dark?: boolean } = {},
): Promise<Watched> {
  const page = await browser.newPage({
    viewport: { width: options.width ?? 1400, height: 900 },
    colorScheme: options.dark ? 'dark' : 'light',
  });
  const problems: string[] = [];
  const url = pathToFileURL(file).href;
  page.on('pageerror', (error) => problems.push(`error: ${error.message}`));
  page.on('console', (message) => {
    // Reading pixels is the tests' own doing.
    if (message.text().includes('willReadFrequently')) return;
    if (message.type() === 'error' || message.type() === 'warning') problems.push(`console: ${message.text()}`);
  });
  page.on('request', (request) => {
    const wanted = request.url();
    if (wanted.split('#')[0] !== url && !wanted.startsWith('data:') && !wanted.startsWith('blob:'))
      problems.push(`request: ${wanted}`);
  });
  await page.goto(url);
  await settled(page);
  return { page, problems };
}

// Two frames: what was asked for has been drawn.
export async function settled(page: Page): Promise<void> {
  await page.evaluate(
    () => new Promise<void>((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 30)))),
  );
}

// How many colours the canvases of a section show; 0 where it has none.
export async function coloursDrawn(page: Page, selector: string): Promise<number[]> {
  return page.$$eval(`${selector} canvas`, (canvases) =>
    (canvases as HTMLCanvasElement[]).map((canvas) => {
      const context = canvas.getContext('2d');
      if (!context || canvas.width === 0 || canvas.height === 0) return 0;
      const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
      const seen = new Set<number>();
      for (let i = 0; i < data.length; i += 4 * 7)
        seen.add((data[i] << 24) | (data[i + 1] << 16) | (data[i + 2] << 8) | data[i + 3]);
      return seen.size;
    }),
  );
}

export async function attribute(page: Page, selector: string, name: string): Promise<string> {
  return (await page.getAttribute(selector, name)) ?? '';
}
