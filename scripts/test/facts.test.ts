/** The page "Why Mortise" says what was measured, and nothing else. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { renderCharts, renderPage } from '../facts/page.mjs';
import { root } from '../run-command.mjs';

const docs = join(root, 'docs');
const read = (file: string): string => readFileSync(join(docs, file), 'utf8');
const facts = JSON.parse(read('facts.json'));

it('has the table of docs/facts.json (npm run facts -- --draw writes it)', () => {
  expect(renderPage(read('why.md'), facts)).toBe(read('why.md'));
});

it('has the charts of docs/facts.json (npm run facts -- --draw writes them)', () => {
  for (const { file, svg } of renderCharts(facts)) expect(read(join('public/images', file))).toBe(svg);
});
