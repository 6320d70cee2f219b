/**
 * `node scripts/mutations.mjs --seed 20261126 --count 60`: makes random small changes to the packages' sources, one at a time, and says which of them no
 * test notices. Takes half an hour or more, on a tree whose tests pass: each change gets its own package's tests first, and those that survive all the others.
 */

import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { parseAst } from 'rolldown/parseAst';

const root = new URL('../', import.meta.url);
const { values } = parseArgs({ options: { seed: { type: 'string', default: '1' }, count: { type: 'string', default: '60' } } });
const flipped = { '<': '<=', '<=': '<', '>': '>=', '>=': '>', '===': '!==', '!==': '===', '&&': '||', '||': '&&' };
const isExit = (node) => /^(Return|Throw)Statement$/.test(node.type === 'BlockStatement' && node.body.length === 1 ? node.body[0].type : node.type);
const isNumber = (node) => typeof node?.value === 'number' || (node?.type === 'BinaryExpression' && isNumber(node.left) && isNumber(node.right));

/** The changes that one node of the syntax tree allows, each as `[kind, start, end, replacement]`. */
function toChanges(node, text) {
  const toSource = (part) => text.slice(part.start, part.end);
  const flip = (kind) => {
    const at = text.indexOf(node.operator, node.left.end);
    return [[kind, at, at + node.operator.length, flipped[node.operator]]];
  };
  const move = (part) => (isNumber(part) ? ['+', '-'].map((sign) => ['bound', part.start, part.end, `(${toSource(part)} ${sign} 1)`]) : []);
  if (node.type === 'BinaryExpression' && node.operator in flipped) return flip('comparison');
  if (node.type === 'LogicalExpression') return node.operator in flipped ? flip('boolean') : move(node.right);
  if (node.type === 'UnaryExpression' && node.operator === '!') return [['boolean', node.start, node.end, toSource(node.argument)]];
  if (node.type === 'IfStatement' && !node.alternate && isExit(node.consequent)) return [['guard', node.start, node.end, ';']];
  if (node.type === 'AwaitExpression') return [['await', node.start, node.end, toSource(node.argument)]];
  if (node.type === 'VariableDeclarator' && /^[A-Z]/.test(node.id.name ?? '')) return move(node.init);
  return node.type === 'AssignmentPattern' ? move(node.right) : [];
}

function collect(node, text, into) {
  if (typeof node?.type === 'string') into.push(...toChanges(node, text));
  for (const child of Object.values(node)) if (child !== null && typeof child === 'object') collect(child, text, into);
  return into;
}

const files = readdirSync(new URL('packages', root), { recursive: true }).filter((file) => /^(?!transport-testkit)[^/]+\/src\/.*\.ts$/.test(file));
const places = files.sort().flatMap((name) => {
  const file = `packages/${name}`;
  const text = readFileSync(new URL(file, root), 'utf8');
  return collect(parseAst(text, { lang: 'ts' }), text, []).map(([kind, start, end, to]) => ({ file, text, kind, start, end, to }));
});

/** Mulberry32: the next number of [0, 1) from a seed. */
let state = Number(values.seed);
function random() {
  state = (state + 0x6d2b79f5) | 0;
  let t = Math.imul(state ^ (state >>> 15), 1 | state);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
}

let restore = () => undefined;
process.once('exit', () => restore());
process.once('SIGINT', () => process.exit(130)).once('SIGTERM', () => process.exit(143));

const failedTest = /^ *(?:×|FAIL) +(.*)\n/m;

/** Resolves with what a program under node_modules printed if it failed (a program that hangs has), else with undefined. */
function findFailure(args, minutes) {
  const child = spawn(process.execPath, args, { cwd: root, detached: true, env: { ...process.env, NO_COLOR: '1' } });
  const stop = () => process.kill(-child.pid, 'SIGKILL');
  const timer = setTimeout(stop, minutes * 60_000);
  process.once('exit', stop);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => {
      output += text;
      // One test that fails is enough, and after it others may wait for long.
      if (failedTest.test(output)) stop();
    });
  return new Promise((resolve) =>
    child.once('exit', (code) => {
      clearTimeout(timer);
      process.removeListener('exit', stop);
      const why = failedTest.exec(output)?.[1] ?? (code === null ? 'a run that hangs' : output.slice(-300));
      resolve(code === 0 ? undefined : why);
    }),
  );
}

/** Runs a function while the change stands in the sources. */
async function withChange({ file, text, start, end, to }, run) {
  const url = new URL(file, root);
  restore = () => writeFileSync(url, text);
  writeFileSync(url, text.slice(0, start) + to + text.slice(end));
  return await run().finally(restore);
}

const toFolder = ({ file }) => file.split('/', 2).join('/');
const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--bail=1', '--reporter=verbose', '--testTimeout=60000', '--project=sources', '--project=alone'];
const compile = (place) => findFailure(['node_modules/typescript/bin/tsc', '--noEmit', '-p', toFolder(place)], 3);
const testOwn = (place) => findFailure([...vitest, `${toFolder(place)}/`], 5);
const testOthers = (place) => findFailure([...vitest, '--exclude', `${toFolder(place)}/**`], 20);

/** Says what became of a change, in one line. */
function show({ file, text, kind, start, end, to }, outcome) {
  const from = text.lastIndexOf('\n', start) + 1;
  const line = text.slice(from, text.indexOf('\n', end)).replaceAll(/\s+/g, ' ').trim().slice(0, 100);
  console.log(`${file}:${text.slice(0, start).split('\n').length}  ${kind}  ${text.slice(start, end).slice(0, 60)} -> ${to.slice(0, 60)}  ${outcome}\n    ${line}`);
}

console.log(`seed ${values.seed}, ${places.length} places`);
const counts = { own: 0, types: 0, others: 0, nobody: 0 };
const survivors = [];
for (let drawn = 0; drawn < Number(values.count); drawn++) {
  const [place] = places.splice(Math.floor(random() * places.length), 1);
  const [by, why] = await withChange(place, async () => {
    const failure = await testOwn(place);
    return failure !== undefined ? ['own', failure] : (await compile(place)) !== undefined ? ['types', 'tsc'] : [];
  });
  if (by === undefined) survivors.push(place);
  else counts[by] += 1;
  show(place, by === undefined ? 'not noticed by its package' : `noticed by ${why}`);
}
console.log('What is left, by the tests of all others:');
for (const place of survivors) {
  const failure = await withChange(place, () => testOthers(place));
  counts[failure === undefined ? 'nobody' : 'others'] += 1;
  show(place, failure === undefined ? 'not noticed' : `noticed by ${failure}`);
}
console.log(`seed ${values.seed}, noticed by:`, counts);
