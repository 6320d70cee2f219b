/**
 * Which declarations are published: what an entry's types are made of. What our own modules export for one another is of use to
 * no one else, and was a third of all declarations.
 *
 * Declarations are read as text: tsc writes each statement from the first column on, and an import on one line. A statement is kept where its
 * name occurs in one that is kept, wherever that is: a name that two files use keeps both, so this errs on the side of keeping.
 */

import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';

/**
 * @typedef {{ text: string, code: string, names: readonly string[], kind: 'declaration' | 'import' | 'always' }} Statement `code` is
 *   `text` without comments; `names` are what an import binds or a declaration declares. `always`: re-exports, augmentations.
 */

/** Every way in which tsc names another file. */
const relativeSpecifiers = /(?:from|import|declare module)\s*\(?\s*['"](\.[^'"]+)['"]/g;
const startsStatement = /^(?:\/\*\*|\/\/|export|import|declare|interface|type|class|const|function)/;
const endsComment = /^\s*\*\/$|^\/\*\*.*\*\/$/;

/**
 * Deletes the declarations below a folder that no entry needs, and the maps of files that go. Lines stay where they are, for the
 * maps of those that stay.
 *
 * @param {string} folder Where tsc wrote to.
 * @param {readonly string[]} entries The files that `exports` names as `types`.
 * @throws {Error} A declaration leads to a file that is not there.
 */
export async function pruneDeclarations(folder, entries) {
  const modules = new Map();
  const whole = new Set(entries.map((entry) => resolve(entry)));
  for (const entry of [...whole]) await follow(entry, modules, whole);
  const kept = findNeeded(modules, whole);
  for (const file of await readdir(folder, { recursive: true })) {
    if (!/\.d\.ts(?:\.map)?$/.test(file)) continue;
    const path = resolve(folder, file.replace(/\.map$/, ''));
    const statements = modules.get(path) ?? [];
    if (!whole.has(path) && !statements.some((statement) => kept.has(statement))) await rm(join(folder, file));
    else if (!file.endsWith('.map')) await writeFile(join(folder, file), print(statements, kept));
  }
}

/** Reads a file and all that it leads to into `modules`; those that are exported as a whole are added to `whole`. */
async function follow(file, modules, whole) {
  if (modules.has(file)) return;
  const statements = parseStatements(await readFile(file, 'utf8'));
  modules.set(file, statements);
  for (const { code } of statements) {
    for (const [, specifier] of code.matchAll(relativeSpecifiers)) {
      const target = resolve(dirname(file), specifier.replace(/\.[jt]s$/, '.d.ts'));
      if (/^export (?:type )?\*/.test(code)) whole.add(target);
      await follow(target, modules, whole);
    }
  }
}

/** @returns {readonly Statement[]} */
function parseStatements(text) {
  const statements = [[]];
  for (const line of text.split('\n')) {
    const previous = statements.at(-1);
    if (startsStatement.test(line) && !endsComment.test(previous.at(-1) ?? '')) statements.push([line]);
    else previous.push(line);
  }
  return statements.filter((lines) => lines.length > 0).map((lines) => toStatement(lines.join('\n')));
}

function toStatement(text) {
  const code = text.replace(/\/\*[\s\S]*?\*\/|^\/\/.*$|^export \{\};$/gm, '').trim();
  if (/^import .*from /.test(code)) {
    const [, clause] = /^import (?:type )?(.*) from /.exec(code);
    return { text, code, kind: 'import', names: clause.replace(/\btype |[\w$]+ as |[{}*]/g, ' ').match(/[\w$]+/g) ?? [] };
  }
  const [, name] = /^(?:export )?(?:declare )?(?:abstract )?(?:interface|type|class|const|function) ([\w$]+)/.exec(code) ?? [];
  return name === undefined ? { text, code, kind: 'always', names: [] } : { text, code, kind: 'declaration', names: [name] };
}

/** Goes from what the entries declare and export, and from augmentations, to every declaration whose name occurs there. */
function findNeeded(modules, whole) {
  const declared = new Map();
  for (const statement of [...modules.values()].flat()) {
    if (statement.kind === 'declaration')
      for (const name of statement.names) declared.set(name, [...(declared.get(name) ?? []), statement]);
  }
  const waiting = [...modules].flatMap(([file, statements]) =>
    statements.filter(({ kind, code }) => (kind === 'always' && code !== '') || (kind === 'declaration' && whole.has(file))),
  );
  const kept = new Set();
  for (let statement = waiting.pop(); statement !== undefined; statement = waiting.pop()) {
    if (kept.has(statement)) continue;
    kept.add(statement);
    for (const [word] of statement.code.matchAll(/[\w$]+/g)) waiting.push(...(declared.get(word) ?? []));
  }
  return kept;
}

/** The file's text with nothing but line ends in place of what is not needed, and imports of what is left alone. */
function print(statements, kept) {
  const used = new Set(statements.filter((statement) => kept.has(statement)).flatMap(({ code }) => code.match(/[\w$]+/g) ?? []));
  const printed = statements.map((statement) => {
    if (statement.kind === 'import') return keepNames(statement, used);
    return kept.has(statement) || statement.code === '' ? statement.text : blank(statement.text);
  });
  return printed.join('\n');
}

/** An import that binds no name which is used goes; from one of several names, those that are not used. */
function keepNames({ text, names }, used) {
  if (!names.some((name) => used.has(name))) return blank(text);
  return text.replace(/^(import .*)\{(.*)\}/m, (_, start, list) => {
    const left = list.split(',').filter((each) => used.has(/[\w$]+\s*$/.exec(each)?.[0].trim()));
    return `${start}{ ${left.map((each) => each.trim()).join(', ')} }`;
  });
}

function blank(text) {
  return text.replace(/[^\n]/g, '');
}
