// Makes the pages, each one HTML file with its style and program inside: page.html with a place for data, and beside it
// serve.html, which asks a server.
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

async function filled(html, program, sheet) {
  const script = (await bundled(program)).replaceAll('</script', '<\\/script');
  const style = await bundled(sheet);
  const template = await readFile(path.join(here, html), 'utf8');
  return template.replace('/*STYLE*/', () => style).replace('/*SCRIPT*/', () => script);
}

async function write(file, text) {
  const unfinished = `${file}.${process.pid}`;
  await writeFile(unfinished, text);
  await rename(unfinished, file);
  console.log(`${file}: ${(text.length / 1024).toFixed(0)} KiB`);
}

const page = await filled('src/page.html', 'src/main.ts', 'src/style/page.css');
const serve = await filled('src/serve/serve.html', 'src/serve/main.ts', 'src/serve/serve.css');

const place = '<script id="data" type="application/json">/*DATA*/</script>';
if (page.split(place).length !== 2 || page.split('/*DATA*/').length !== 2) {
  throw new Error('the page must have exactly one place for data');
}
await mkdir(path.dirname(outfile), { recursive: true });
await write(outfile, page);
await write(path.join(path.dirname(outfile), 'serve.html'), serve);
