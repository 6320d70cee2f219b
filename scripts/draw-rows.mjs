/**
 * `node scripts/draw-rows.mjs --issue 2 --count 20 --seed 7`: draws covered rows of an issue by a printed seed, each with its tests, to be
 * broken by hand. Reads the report of the last test run.
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { readTestReport, reportFile } from './read-test-report.mjs';
import { readTestTitles } from './read-test-titles.mjs';
import { root } from './run-command.mjs';

const { values } = parseArgs({
  options: { issue: { type: 'string', default: '2' }, count: { type: 'string', default: '20' }, seed: { type: 'string' } },
});
const seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 32) : Number(values.seed);
const readJson = (file) => JSON.parse(readFileSync(join(root, file), 'utf8'));
const rows = new Map(readJson('docs/spec-rows.json').map((row) => [row.id, row]));
const due = Object.values(readJson(`docs/spec-due-issue-${values.issue}.json`).groups).flat();
const passed = readTestReport()?.filter(({ outcome }) => outcome === 'passed');
const tests = passed ?? readTestTitles();
const testsOf = (id) => tests.filter(({ title }) => (/^(?:\[[^\]]+\])+/.exec(title)?.[0] ?? '').includes(`[${id}]`));

console.log(`seed ${seed}, of ${passed === undefined ? `the titles in the test files (no ${reportFile})` : reportFile}`);
for (const id of draw(
  due.filter((each) => testsOf(each).length > 0),
  Number(values.count),
)) {
  console.log(`${id} ${rows.get(id)?.phrase ?? ''}`);
  for (const { file, title } of testsOf(id).slice(0, 3)) console.log(`  ${file}: ${title}`);
}

/** Some of them, in the order in which they are drawn; the same for the same seed. */
function draw(from, count) {
  let state = seed >>> 0;
  const next = () => {
    // mulberry32
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const left = [...from];
  return Array.from({ length: Math.min(count, left.length) }, () => left.splice(Math.floor(next() * left.length), 1)[0]);
}
