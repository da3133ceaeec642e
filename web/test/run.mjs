// Builds the page and the tests, and runs them with node's own test runner.
//   node test/run.mjs [unit|browser]        MONET_PAGES: a folder of more pages for the browser tests
import { build } from 'esbuild';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const here = path.dirname(fileURLToPath(import.meta.url));
const wanted = process.argv[2] ?? '';
const tests = readdirSync(here).filter((name) => name.endsWith('.test.ts') && name.startsWith(wanted));
// Where node finds the packages.
const folder = mkdtempSync(path.join(here, '..', 'node_modules', '.test-'));
let status = 1;
try {
  const page = path.join(folder, 'page.html');
  const built = spawnSync(process.execPath, [path.join(here, '..', 'build.mjs'), `--outfile=${page}`], {
    stdio: 'inherit',
  });
  if (built.status === 0) {
    await build({
      entryPoints: tests.map((name) => path.join(here, name)),
      outdir: folder,
      outExtension: { '.js': '.mjs' },
      bundle: true,
      platform: 'node',
      format: 'esm',
      external: ['playwright-core'],
      logLevel: 'warning',
    });
    const files = tests.map((name) => path.join(folder, name.replace(/\.ts$/, '.mjs')));
    const run = spawnSync(process.execPath, ['--test', '--test-reporter=spec', ...files], {
      stdio: 'inherit',
      env: { ...process.env, MONET_TEST_PAGE: page, MONET_TEST_FOLDER: folder },
    });
    status = run.status ?? 1;
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exit(status);
