/**
 * The API report of a package: every name that its entries export, with its declaration as tsc wrote it, comments left out. A
 * change of the public API shows as a change of `api/<package>.md`, and is reviewed there.
 *
 * The declarations are read as text: tsc writes each statement from the first column on, and no other line begins there with a word
 * that a statement begins with. A name whose declaration is not found is an error, and so is an export in a form that is not known
 * here, so this cannot fail unnoticed.
 */

import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from './run-command.mjs';
import { packageManifests } from './workspace-packages.mjs';

/** @typedef {{ name: string, text: string }} Declaration */
/** @typedef {{ name: string, inner: string, from: string }} Reexport `name` is exported here, and called `inner` in `from`. */
/** @typedef {{ declarations: readonly Declaration[], reexports: readonly Reexport[], wholes: readonly string[], augmentations: readonly string[] }} Module */

const folder = join(root, 'api');

/** Writes the reports of all packages, and removes those of packages that are gone. */
function writeReports() {
  const reports = makeReports();
  rmSync(folder, { recursive: true });
  mkdirSync(folder);
  for (const [name, text] of reports) writeFileSync(join(folder, name), text);
}

/** @returns {readonly string[]} The reports that are not what was built. */
export function findStaleReports() {
  const reports = makeReports();
  const written = new Map(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
  return [...new Set([...reports.keys(), ...written.keys()])].filter((name) => reports.get(name) !== written.get(name));
}

/** compat-v1 has no report: its API is that of SDK v1, and docs/reference/migration-exports.md says where it differs. */
function makeReports() {
  const packages = packageManifests().filter(({ folder: name }) => name !== 'compat-v1');
  return new Map(packages.map(({ folder: name }) => [`${name}.md`, reportPackage(join(root, 'packages', name))]));
}

/**
 * Makes the report of one package.
 *
 * @param {string} path The package's folder; it must have been built.
 * @throws {Error} A declaration is not found.
 */
export function reportPackage(path) {
  const manifest = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'));
  const reader = createReader();
  const shownAt = new Map();
  const sections = Object.entries(manifest.exports).flatMap(([subpath, { types }]) => {
    if (types === undefined) return [];
    const entry = manifest.name + subpath.slice(1);
    const lines = reader.exportsOf(join(path, types)).map(({ name, key, text }) => {
      const elsewhere = shownAt.get(key);
      if (elsewhere === undefined) shownAt.set(key, entry);
      return elsewhere === undefined ? text : `// ${name}: as at ${elsewhere}`;
    });
    return [`## ${entry}\n\n\`\`\`ts\n${lines.join('\n')}\n\`\`\`\n`];
  });
  const added = reader.augmentations();
  if (added.length > 0) sections.push(`## What it adds to other packages\n\n\`\`\`ts\n${added.join('\n')}\n\`\`\`\n`);
  return `# ${manifest.name}: the API\n\nWritten by \`npm run api\` from the built declarations; review its changes.\n\n${sections.join('\n')}`;
}

/** Reads modules, each once. */
function createReader() {
  /** @type {Map<string, Module>} */
  const modules = new Map();
  const read = (file) => {
    if (!modules.has(file)) modules.set(file, parseModule(readFileSync(file, 'utf8')));
    return modules.get(file);
  };

  /** Follows a name to the module that declares it, or to another package. */
  const find = (file, name) => {
    const { declarations, reexports, wholes } = read(file);
    const found = declarations.filter((declaration) => declaration.name === name);
    if (found.length > 0) return { key: `${file}#${name}`, text: found.map(({ text }) => text).join('\n') };
    const whole = wholes.find((from) => namesOf(toDeclarationFile(file, from)).includes(name));
    const reexport = reexports.find((other) => other.name === name) ?? (whole && { inner: name, from: whole });
    if (reexport === undefined) throw new Error(`${file} exports "${name}", whose declaration scripts/api-report.mjs does not find`);
    if (!reexport.from.startsWith('.')) return { key: `${reexport.from}#${reexport.inner}`, text: `// ${name}: of ${reexport.from}` };
    return find(toDeclarationFile(file, reexport.from), reexport.inner);
  };

  const namesOf = (file) => {
    const { declarations, reexports, wholes } = read(file);
    const own = declarations.filter(({ text }) => text.startsWith('export ')).map(({ name }) => name);
    const others = wholes.flatMap((whole) => namesOf(toDeclarationFile(file, whole)));
    return [...new Set([...own, ...reexports.map(({ name }) => name), ...others])];
  };

  const exportsOf = (file) => {
    const names = namesOf(file).sort((one, other) => (one < other ? -1 : 1));
    return names.map((name) => ({ name, ...find(file, name) }));
  };

  return { exportsOf, augmentations: () => [...modules.values()].flatMap(({ augmentations }) => augmentations) };
}

function toDeclarationFile(file, specifier) {
  return join(dirname(file), specifier.replace(/\.[jt]s$/, '.d.ts'));
}

/**
 * Takes the text of a declaration file apart.
 *
 * @param {string} text
 * @returns {Module}
 */
function parseModule(text) {
  const bare = text.replace(/[ \t]*\/\*\*?[^]*?\*\/\n?/g, '').replace(/^\/\/.*\n?/gm, '');
  const statements = bare
    .split(/^(?=(?:export|declare|interface|type|import|abstract|class|function|const)\b)/m)
    .map((part) => part.trimEnd());
  /** @type {Declaration[]} */
  const declarations = [];
  /** @type {Reexport[]} */
  const reexports = [];
  /** @type {string[]} */
  const wholes = [];
  for (const statement of statements) {
    const list = /^export (?:type )?\{([^}]*)\}(?: from '([^']+)')?;$/.exec(statement);
    const whole = /^export type \* from '(\.[^']+)';$/.exec(statement)?.[1];
    if (statement.startsWith('export *')) throw new Error(`Entries list their values one by one: ${statement}`);
    if (whole !== undefined) wholes.push(whole);
    else if (list === null) declarations.push(...toDeclaration(statement));
    else if (list[2] !== undefined) reexports.push(...toReexports(list[1], list[2]));
    else if (list[1].trim() !== '') throw new Error(`Modules export their own names where they declare them: ${statement}`);
  }
  return { declarations, reexports, wholes, augmentations: statements.filter((statement) => statement.startsWith('declare module ')) };
}

function toDeclaration(statement) {
  const declared = /^(?:export )?(?:declare )?(?:abstract )?(?:interface|type|class|function|const|let) ([\w$]+)/.exec(statement);
  if (declared !== null) return [{ name: declared[1], text: statement }];
  if (statement.startsWith('export ')) throw new Error(`scripts/api-report.mjs does not know this form of an export: ${statement}`);
  return [];
}

function toReexports(list, from) {
  return list
    .split(',')
    .map((part) => part.trim().replace(/^type /, ''))
    .filter((part) => part !== '')
    .map((part) => {
      const [inner, name = inner] = part.split(' as ');
      return { name, inner, from };
    });
}

if (process.argv[1] === import.meta.filename) writeReports();
