// Makes the page: one HTML file with its style and program inside, and a place for data.
//   npm run build [-- --outfile=FILE]
import { build } from 'esbuild';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const here = path.dirname(fileURLToPath(import.meta.url));
const wanted = process.argv.find((argument) => argument.startsWith('--outfile='))?.slice('--outfile='.length);
const outfile = path.resolve(wanted ?? process.env.MONET_PAGE ?? path.join(here, 'dist', 'page.html'));

async function bundled(entry) {
  const result = await build({
    entryPoints: [path.join(here, entry)],
    bundle: true,
    minify: true,
    write: false,
    format: 'iife',
    target: ['chrome100', 'firefox100', 'safari15'],
    legalComments: 'inline',
    charset: 'utf8',
    logLevel: 'warning',
  });
  return result.outputFiles[0].text.trim();
}

const script = (await bundled('src/main.ts')).replaceAll('</script', '<\\/script');
const style = await bundled('src/style/page.css');
const template = await readFile(path.join(here, 'src/page.html'), 'utf8');
const page = template.replace('/*STYLE*/', () => style).replace('/*SCRIPT*/', () => script);

const place = '<script id="data" type="application/json">/*DATA*/</script>';
if (page.split(place).length !== 2 || page.split('/*DATA*/').length !== 2) {
  throw new Error('the page must have exactly one place for data');
}
await mkdir(path.dirname(outfile), { recursive: true });
const unfinished = `${outfile}.${process.pid}`;
await writeFile(unfinished, page);
await rename(unfinished, outfile);
console.log(`${outfile}: ${(page.length / 1024).toFixed(0)} KiB`);
