/**
 * The page `docs/reference/migration-exports.md`: each export of the official SDKs, and where it is here, from the declarations of both. A
 * name without a place and without a reason is an error.
 */

import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parse } from '@babel/parser';
import type { Node } from '@babel/types';
import { absentPaths, differences, type Reason, reasonOfV1, reasonOfV2 } from './migration-reasons.ts';
import { packageEntries } from './workspace-packages.mjs';

const root = resolve(import.meta.dirname, '..');
const official = join(root, 'interop/node_modules/@modelcontextprotocol');
const compat = join(root, 'packages/compat-v1/src');

/** The page. */
export function renderMigrationTable(): string {
  return `${[
    '# Every export of the official SDKs',
    'Written by `npm run docs:write` from the declarations of both sides. Do not edit by hand. The guide is [Migrate from the official SDK](../how-to/migrate-from-the-official-sdk.md).',
    '## v1: `@modelcontextprotocol/sdk` 1.32',
    'On the left the import path; `@mortise/compat-v1` has the same one. "The same" means: the same name at the same path, for the same use.',
    ...v1Paths().map((path) => renderV1(path)),
    renderAbsentPaths(),
    '## v2',
    '`@mortise/codemod v2` moves classes and functions that are the same. "The same" means: the same name, for the same use. The types of messages have readonly members.',
    ...['server', 'client', 'node'].map((name) => renderV2(name)),
  ].join('\n\n')}\n`;
}

function v1Paths(): readonly string[] {
  const { exports } = JSON.parse(readFileSync(join(root, 'packages/compat-v1/package.json'), 'utf8')) as {
    exports: Record<string, object>;
  };
  const paths = Object.keys(exports).filter((path) => !path.includes('*') && path !== './package.json');
  // Paths that stand for the same file are one.
  const files = new Set(paths.map((path) => path.slice(2)).map((path) => (existsSync(sdkFile(path)) ? path : `${path}/index`)));
  return [...files].filter((path) => existsSync(sdkFile(path))).toSorted();
}

function sdkFile(path: string): string {
  return join(official, 'sdk/dist/esm', `${path}.d.ts`);
}

function renderV1(path: string): string {
  const own = existsSync(join(compat, `${path}.ts`)) ? exportsOf(join(compat, `${path}.ts`)) : new Set<string>();
  const groups = new Map<string, string[]>();
  for (const name of [...exportsOf(sdkFile(path))].toSorted()) {
    const difference = differences[`${path} ${name}`];
    const text = own.has(name)
      ? difference === undefined
        ? 'the same'
        : `differs: ${difference}`
      : `absent: ${required(reasonOfV1(name), `v1 ${path} ${name}`)}`;
    groups.set(text, [...(groups.get(text) ?? []), name]);
  }
  return renderGroups(`\`/${path}\``, groups);
}

/** The paths of v1 that compat lacks, with all names of each. */
function renderAbsentPaths(): string {
  const rows = Object.entries(absentPaths).map(([path, text]) => {
    const names = [...exportsOf(sdkFile(path))].toSorted();
    return `| \`/${path}\`: ${names.map((name) => `\`${name}\``).join(' ')} | ${text} |`;
  });
  return ['### Other paths', '', '| path and exports | here |', '|---|---|', ...rows].join('\n');
}

function renderV2(name: string): string {
  const groups = new Map<string, string[]>();
  for (const each of [...exportsOf(join(official, name, 'dist/index.d.mts'))].toSorted()) {
    const text = required(
      reasonOfV2(each, (own) => entryOf(own)),
      `v2 ${name} ${each}`,
    );
    for (const wrong of findWrongPlaces(text))
      throw new Error(`v2 ${name} ${each}: there is no ${wrong}: mend scripts/migration-reasons.ts`);
    groups.set(text, [...(groups.get(text) ?? []), each]);
  }
  return renderGroups(`\`@modelcontextprotocol/${name}\``, groups);
}

/** Our entries with the names that each exports, those that programs use most first. */
const ownEntries = new Map(
  packageEntries()
    .filter(({ folder }) => folder !== 'compat-v1')
    .map(({ name, source }) => [name, exportsOf(join(root, source))] as const),
);

/** The entry of ours that exports a name. Of several the one with the types of messages, else the shortest. */
function entryOf(name: string): string | undefined {
  const entries = [
    '@mortise/protocol',
    '@mortise/protocol/model',
    ...Array.from(ownEntries.keys()).toSorted((a, b) => a.length - b.length),
  ];
  return entries.find((entry) => ownEntries.get(entry)?.has(name));
}

/** Returns each "X of @mortise/..." in a text that our entries do not have. */
export function findWrongPlaces(text: string): readonly string[] {
  const places = text.matchAll(/(?:`(\w+)`|\b(\w*[A-Z]\w*))(?:\([^)`]*\))? of `?(@mortise\/[\w/-]*\w)/g);
  return [...places].filter(([, code, word = '', entry = '']) => ownEntries.get(entry)?.has(code ?? word) !== true).map(([place]) => place);
}

function required(reason: Reason | undefined, what: string): string {
  if (reason === undefined) throw new Error(`${what} has no place here: give the reason in scripts/migration-reasons.ts`);
  return reason;
}

function renderGroups(title: string, groups: ReadonlyMap<string, readonly string[]>): string {
  const rows = Array.from(groups, ([text, names]) => `| ${names.map((name) => `\`${name}\``).join(' ')} | ${text} |`);
  return [`### ${title}`, '', '| export | here |', '|---|---|', ...rows].join('\n');
}

/** The names that a module exports, those of the modules that it exports as a whole included. */
function exportsOf(file: string): ReadonlySet<string> {
  const isDeclaration = /\.d\.m?ts$/.test(file);
  const plugins = [['typescript', { dts: isDeclaration }] as ['typescript', { dts: boolean }]];
  const { program } = parse(readFileSync(file, 'utf8'), { sourceType: 'module', plugins });
  const names = new Set<string>();
  for (const node of program.body) {
    if (node.type === 'ExportAllDeclaration') {
      const path = resolve(dirname(file), node.source.value).replace(/\.js$/, '.d.ts');
      for (const name of exportsOf(path)) names.add(name);
    }
    if (node.type !== 'ExportNamedDeclaration') continue;
    for (const specifier of node.specifiers)
      if ('exported' in specifier && specifier.exported.type === 'Identifier') names.add(specifier.exported.name);
    if (node.declaration) for (const name of declaredNames(node.declaration)) names.add(name);
  }
  return names;
}

function declaredNames(node: Node): readonly string[] {
  if (node.type === 'VariableDeclaration') return node.declarations.flatMap(({ id }) => (id.type === 'Identifier' ? [id.name] : []));
  return 'id' in node && node.id !== null && node.id !== undefined && (node.id as Node).type === 'Identifier'
    ? [(node.id as { name: string }).name]
    : [];
}
