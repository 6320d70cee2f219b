/** For programs that read: each page as Markdown beside its HTML, and llms.txt, which lists them. */

import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { listedPages } from './sidebar.mjs';

export function writePlainPages({ srcDir, outDir, pages, site }) {
  for (const page of pages) {
    mkdirSync(dirname(join(outDir, page)), { recursive: true });
    copyFileSync(join(srcDir, page), join(outDir, page));
  }
  const lists = [...listedPages()].map(([text, items]) => [`## ${text}`, '', ...items.map(toListItem), ''].join('\n'));
  writeFileSync(join(outDir, 'llms.txt'), [`# ${site.title}\n\n> ${site.description}\n`, ...lists].join('\n'));

  function toListItem({ text, link }) {
    return `- [${text}](${site.base}${link.slice(1)}${link.endsWith('/') ? 'index' : ''}.md)`;
  }
}
