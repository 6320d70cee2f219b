/**
 * Draws ten doc comments and ten error messages at random, for a reader who does not know the code: `node scripts/draw-words.mjs [SEED]`.
 * Each should be understood at first reading. The seed is printed and repeats the draw.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './run-command.mjs';

const COUNT = 10;
const seed = Number(process.argv[2] ?? Math.floor(Math.random() * 2 ** 31));
let state = seed;

/** The generator of Park and Miller. */
function nextBelow(limit) {
  state = (state * 48_271) % 2_147_483_647;
  return state % limit;
}

const packages = readdirSync(join(root, 'packages')).sort();
const files = packages.flatMap((name) => {
  const folder = join('packages', name, 'src');
  const all = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).sort();
  return all.filter((file) => file.endsWith('.ts')).map((file) => join(folder, file));
});
const texts = files.map((file) => ({ file, text: readFileSync(join(root, file), 'utf8') }));

function find(pattern) {
  return texts.flatMap(({ file, text }) =>
    [...text.matchAll(pattern)].map(({ 0: match, index }) => `${file}:${text.slice(0, index).split('\n').length}\n${match.trim()}\n`),
  );
}

function draw(title, found) {
  console.log(`\n## ${title} (${COUNT} of ${found.length})\n`);
  for (let index = 0; index < COUNT; index += 1) console.log(found.splice(nextBelow(found.length), 1)[0]);
}

console.log(`seed ${seed}`);
draw('Doc comments, each with the line that it describes', find(/^ *\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n.*/gm));
draw('Error messages', find(/^.*(?:Error|fault|refuse)\(\s*(?:[\w.]+,\s*)?(?:'[^'\n]{25,}'|`[^`\n]{25,}`)/gm));
