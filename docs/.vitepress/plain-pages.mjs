/** For programs that read: each page as Markdown beside its HTML, and llms.txt, which lists them. */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { listedPages } from './sidebar.mjs';

export function writePlainPages({ srcDir, outDir, pages, site }) {
  for (const page of pages) {
    mkdirSync(dirname(join(outDir, page)), { recursive: true });
    writeFileSync(join(outDir, page), readFileSync(join(srcDir, page), 'utf8').replaceAll(/\]\((?:\.\.\/)+(?=packages|apps|scripts|[A-Z]+\.md)/g, '](https://github.com/mortise/mortise/blob/main/'));
  }
  const lines = [`# ${site.title}`, '', `> ${site.description}`, ''];
  for (const [text, items] of listedPages()) lines.push(`## ${text}`, '', ...items.flatMap((item) => [item, ...(item.items ?? [])]).map((item) => `- [${item.text}](${site.base}${toFile(item.link).slice(1)})`), '');
  writeFileSync(join(outDir, 'llms.txt'), lines.join('\n'));
}

function toFile(link) {
  return link.endsWith('/') ? `${link}index.md` : `${link}.md`;
}
