/**
 * `node scripts/mutations.mjs --seed 20261126 --count 60`: makes random small changes to the packages' sources, one at a time, and says which of them no
 * test notices: its own package's tests first, then tsc, and in the end the tests of all others for what is left. It wants a tree whose tests pass and a
 * machine with nothing else to do, for an hour or so: a test that takes over a minute, or a run of over five, counts as one that notices.
 */

import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { parseAst } from 'rolldown/parseAst';
import { root } from './run-command.mjs';

const { values } = parseArgs({ options: { seed: { type: 'string', default: '1' }, count: { type: 'string', default: '60' } } });
const flipped = { '<': '<=', '<=': '<', '>': '>=', '>=': '>', '===': '!==', '!==': '===', '&&': '||', '||': '&&' };
const isExit = ({ type, body }) => (type === 'BlockStatement' ? body.length === 1 && isExit(body[0]) : /^(Return|Throw)S/.test(type));
const isNumber = (node) =>
  typeof node?.value === 'number' || (node?.type === 'BinaryExpression' && isNumber(node.left) && isNumber(node.right));

/** The changes that one node of a syntax tree allows, each as `[kind, start, end, replacement]`. */
function toChanges({ type, start, end, left, right, operator, argument, alternate, consequent, id, init }, text) {
  const move = (node) =>
    isNumber(node) ? ['+', '-'].map((sign) => ['bound', node.start, node.end, `(${text.slice(node.start, node.end)} ${sign} 1)`]) : [];
  const at = operator && left && text.indexOf(operator, left.end);
  if (/^(Binary|Logical)/.test(type) && operator in flipped)
    return [[type === 'LogicalExpression' ? 'boolean' : 'comparison', at, at + operator.length, flipped[operator]]];
  if (type === 'UnaryExpression' && operator === '!') return [['boolean', start, end, text.slice(argument.start, argument.end)]];
  if (type === 'IfStatement' && !alternate && isExit(consequent)) return [['guard', start, end, ';']];
  if (type === 'AwaitExpression') return [['await', start, end, text.slice(argument.start, argument.end)]];
  if (type === 'VariableDeclarator') return /^[A-Z]/.test(id.name) ? move(init) : [];
  return type === 'LogicalExpression' || type === 'AssignmentPattern' ? move(right) : [];
}

function collect(node, text) {
  const own = typeof node?.type === 'string' ? toChanges(node, text) : [];
  return [...own, ...Object.values(node ?? {}).flatMap((child) => (typeof child === 'object' ? collect(child, text) : []))];
}

const folders = readdirSync(`${root}packages`).filter((name) => name !== 'transport-testkit');
const listFiles = (folder) => readdirSync(root + folder, { recursive: true }).map((name) => `${folder}/${name}`);
const files = folders.flatMap((name) => listFiles(`packages/${name}/src`)).filter((file) => file.endsWith('.ts'));
const places = files.sort().flatMap((file) => {
  const text = readFileSync(root + file, 'utf8');
  return collect(parseAst(text, { lang: 'ts' }), text).map(([kind, start, end, to]) => ({ file, text, kind, start, end, to }));
});

/** The next number of [0, 1) from the seed (Mulberry32). */
let state = Number(values.seed);
function random() {
  state = (state + 0x6d2b79f5) | 0;
  let t = Math.imul(state ^ (state >>> 15), 1 | state);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
}

let undo = () => undefined;
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => (undo(), process.exit(1)));

/** Runs a program while a change stands in the sources. @returns Its first failing test, or how else it failed; undefined if all is well. */
async function findFailure({ file, text, start, end, to }, minutes, command) {
  writeFileSync(root + file, text.slice(0, start) + to + text.slice(end));
  const child = spawn(process.execPath, command.split(' '), { cwd: root, detached: true, env: { ...process.env, NO_COLOR: '1' } });
  // Its workers too.
  const stop = () => child.exitCode ?? child.signalCode ?? process.kill(-child.pid, 'SIGKILL');
  undo = () => (stop(), writeFileSync(root + file, text));
  const timer = setTimeout(stop, minutes * 60_000);
  let output = '';
  const failed = () => /^ *(?:×|FAIL) +(.*)\n/m.exec(output)?.[1];
  // After the first test that fails, others may wait for long.
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => ((output += text), failed() && stop()));
  const code = await new Promise((resolve) => child.once('exit', resolve));
  clearTimeout(timer);
  undo();
  return code === 0 ? undefined : (failed() ?? (code === null ? 'a run that hangs' : output.slice(-300)));
}

const vitest = 'node_modules/vitest/vitest.mjs run --bail=1 --reporter=verbose --testTimeout=60000 --project=sources --project=alone';
const tsc = 'node_modules/typescript/bin/tsc --noEmit -p';
const counts = { 'its package': 0, types: 0, others: 0, nobody: 0 };
function report({ file, text, kind, start, end, to }, by, why) {
  counts[by] += 1;
  const show = (code) => code.replaceAll(/\s+/g, ' ').slice(0, 80);
  const change = `${kind} ${show(text.slice(start, end))} -> ${show(to)}`;
  console.log(`${file}:${text.slice(0, start).split('\n').length} ${change}, noticed by ${by}${why ? `: ${why}` : ''}`);
}

console.log(`seed ${values.seed}, ${places.length} places`);
const rest = [];
for (let drawn = 0; drawn < Number(values.count); drawn++) {
  const [place] = places.splice(Math.floor(random() * places.length), 1);
  const folder = place.file.split('/', 2).join('/');
  const why = await findFailure(place, 5, `${vitest} ${folder}/`);
  if (why !== undefined) report(place, 'its package', why);
  else if ((await findFailure(place, 5, `${tsc} ${folder}`)) !== undefined) report(place, 'types');
  else rest.push({ place, folder });
}
for (const { place, folder } of rest) {
  const why = await findFailure(place, 20, `${vitest} --exclude ${folder}/**`);
  report(place, why === undefined ? 'nobody' : 'others', why);
}
console.log(`seed ${values.seed}, noticed by`, counts);
