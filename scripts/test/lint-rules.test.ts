/**
 * The rules of `.oxlintrc.json` that are ours, or about where Node may be used, each broken once in a temporary tree: one run of the linter
 * must name the rule for the file. A second table holds what must pass.
 */

import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { root, runNode } from '../run-command.mjs';
import { writeTree } from './write-tree.ts';

const offences: readonly { readonly rule: string; readonly file: string; readonly code: string }[] = [
  { rule: 'mortise(no-date-literal)', file: 'packages/server/src/date.ts', code: "export const newest: string = '2025-11-25';" },
  {
    rule: 'mortise(no-date-literal)',
    file: 'packages/protocol/src/model/date.ts',
    code: 'export const text: string = `since 2024-11-05`;',
  },
  { rule: 'mortise(no-date-literal)', file: 'packages/client/src/date-type.ts', code: "export type Old = '2025-03-26';" },
  {
    rule: 'mortise(no-version-comparison)',
    file: 'packages/server/src/compare.ts',
    code: 'export const f = (revision: { version: string }, v: string): boolean => revision.version === v;',
  },
  {
    rule: 'mortise(no-version-comparison)',
    file: 'packages/client/src/order.ts',
    code: 'export const f = (call: { revision: { version: string } }, v: string): boolean => call.revision.version < v;',
  },
  { rule: 'mortise(no-vague-file-name)', file: 'packages/server/src/utils.ts', code: 'export const x = 1;' },
  { rule: 'mortise(no-vague-file-name)', file: 'packages/server/src/helpers/sum.ts', code: 'export const x = 1;' },
  { rule: 'mortise(no-star-export)', file: 'packages/server/src/registry/all.ts', code: "export * from './tools.ts';" },
  ...['jsonrpc-core', 'protocol', 'server', 'client', 'tasks', 'auth-oauth', 'auth-proxy', 'transport-http'].flatMap((name) => [
    { rule: 'import(no-nodejs-modules)', file: `packages/${name}/src/built-in.ts`, code: "export { join } from 'node:path';" },
    { rule: 'eslint(no-restricted-globals)', file: `packages/${name}/src/with-process.ts`, code: 'export const x = process.pid;' },
  ]),
];

const ofNode = "import { join } from 'node:path';\nexport const x: string = join('a', process.cwd());";
const fine: readonly { readonly file: string; readonly code: string }[] = [
  { file: 'packages/protocol/src/revisions/2025-11-25/index.ts', code: "export const version: string = '2025-11-25';" },
  { file: 'packages/server/src/commented.ts', code: '/** @see 2025-11-25 server/tools */\nexport const x = 1;' },
  { file: 'packages/server/test/date.test.ts', code: "export const x = '2025-11-25';" },
  { file: 'packages/server/src/node.ts', code: ofNode },
  { file: 'packages/server/src/node/files.ts', code: ofNode },
  { file: 'packages/transport-stdio/src/server.ts', code: ofNode },
  { file: 'packages/server/src/own-process.ts', code: 'export const x = (process: { pid: number }): number => process.pid;' },
  { file: 'packages/server/src/read-version.ts', code: 'export const f = (revision: { version: string }): string => revision.version;' },
];

let found: ReadonlySet<string>;

const tree = writeTree(Object.fromEntries([...offences, ...fine].map(({ file, code }) => [file, `${code}\n`])), afterAll);

beforeAll(async () => {
  const args = [join(root, 'node_modules/oxlint/bin/oxlint'), '--config', join(root, '.oxlintrc.json'), '--format', 'json', '.'];
  const { stdout } = await runNode(args, { cwd: tree });
  const report = JSON.parse(stdout) as { diagnostics: { code: string; filename: string }[] };
  found = new Set(report.diagnostics.map((diagnostic) => `${diagnostic.code} ${diagnostic.filename}`));
});

describe('the linter', () => {
  it.each(offences)('reports $rule in $file', ({ rule, file }) => {
    expect([...found].filter((line) => line.endsWith(` ${file}`))).toContain(`${rule} ${file}`);
  });

  it.each(fine)('says nothing about $file', ({ file }) => {
    expect([...found].filter((line) => line.endsWith(` ${file}`))).toEqual([]);
  });
});
