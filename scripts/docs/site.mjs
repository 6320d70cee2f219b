/**
 * The site of docs/: `npm run docs` serves it and follows changes, `npm run docs:build` builds it into docs/.vitepress/dist and checks every link.
 * Both write the generated reference first.
 */

import { join } from 'node:path';
import { installTool } from '../install-tool.mjs';
import { root } from '../run-command.mjs';
import { setUp } from '../set-up.mjs';
import { findBrokenLinks, sitePaths } from './links.mjs';
import { importVitePress } from './tool.mjs';
import { writeApiPages } from './typedoc.mjs';

const docs = join(root, 'docs');
export const siteFolder = join(docs, '.vitepress/dist');

/** @returns {Promise<readonly string[]>} A text for each link that leads nowhere and each page that no link leads to. Rejects where the site cannot be built. */
export async function buildSite() {
  const { build } = await prepare();
  await build(docs);
  // Its titles are those of the pages that were just written.
  const { findUnlisted } = await import('../../docs/.vitepress/sidebar.mjs');
  return [...findBrokenLinks(siteFolder), ...findUnlisted(sitePaths(siteFolder))];
}

/** Serves until the process ends. */
async function serveSite() {
  const { createServer } = await prepare();
  const server = await createServer(docs, { host: '127.0.0.1' });
  await server.listen();
  server.printUrls();
}

async function prepare() {
  await setUp({ build: false });
  await installTool('../docs');
  await writeApiPages();
  return await importVitePress();
}

if (process.argv[1] === import.meta.filename) {
  if (process.argv[2] === 'serve') await serveSite();
  else {
    const faults = await buildSite();
    for (const fault of faults) console.log(fault);
    console.log(faults.length === 0 ? 'docs/.vitepress/dist is built; every link leads somewhere' : `${faults.length} faults`);
    process.exitCode = faults.length === 0 ? 0 : 1;
  }
}
