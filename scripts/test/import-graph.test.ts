/**
 * The import graph's rules, each broken once: a small tree of all our packages is written to a temporary folder, every row
 * below adds one file with one import to it, and one cruise over the tree must name the row's rule for the row's file.
 */

import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import config from '../../.dependency-cruiser.mjs';
import { root, runNode } from '../run-command.mjs';
import { writeTree } from './write-tree.ts';

interface Arrow {
  readonly rule: string;
  readonly from: string;
  readonly code: string;
}

const value = (specifier: string): string => `import { x } from '${specifier}';\nexport const y = x;\n`;
const type = (specifier: string): string => `import type { X } from '${specifier}';\nexport type Y = X;\n`;

const forbidden: readonly Arrow[] = [
  { rule: 'core-imports-nothing', from: 'packages/jsonrpc-core', code: value('@mortise/protocol') },
  { rule: 'core-has-no-dependency', from: 'packages/jsonrpc-core', code: value('left-pad') },
  { rule: 'protocol-imports-only-core', from: 'packages/protocol', code: value('@mortise/server') },
  { rule: 'protocol-needs-two-packages', from: 'packages/protocol', code: value('left-pad') },
  { rule: 'opentelemetry-only-at-its-entry', from: 'packages/protocol', code: value('@opentelemetry/api') },
  { rule: 'opentelemetry-only-at-its-entry', from: 'packages/server', code: value('@opentelemetry/api') },
  { rule: 'zod-only-at-schemas', from: 'packages/protocol', code: value('zod') },
  { rule: 'zod-only-at-schemas', from: 'packages/server', code: value('zod') },
  { rule: 'zod-only-at-schemas', from: 'packages/client', code: type('zod') },
  { rule: 'schemas-stay-behind-their-entry', from: 'packages/protocol', code: value('./schemas.ts') },
  { rule: 'packages-do-not-load-the-schemas', from: 'packages/server', code: value('@mortise/protocol/schemas') },
  { rule: 'contracts-are-type-only', from: 'packages/protocol/src/contracts', code: value('../index.ts') },
  { rule: 'server-not-to-client', from: 'packages/server', code: value('@mortise/client') },
  { rule: 'client-not-to-server', from: 'packages/client', code: value('@mortise/server') },
  { rule: 'client-not-to-server', from: 'packages/client', code: type('@mortise/server') },
  { rule: 'ends-not-to-transport', from: 'packages/server', code: value('@mortise/transport-stdio') },
  { rule: 'ends-not-to-transport', from: 'packages/client', code: value('@mortise/transport-http') },
  { rule: 'ends-not-to-transport', from: 'packages/client', code: value('@mortise/transport-ws-custom') },
  { rule: 'ends-not-to-parts', from: 'packages/server', code: value('@mortise/tasks') },
  { rule: 'ends-not-to-parts', from: 'packages/client', code: value('@mortise/auth-oauth') },
  { rule: 'ends-not-to-parts', from: 'packages/server', code: value('@mortise/store-sqlite') },
  { rule: 'transport-not-to-ends', from: 'packages/transport-stdio', code: type('@mortise/server') },
  { rule: 'transport-not-to-ends', from: 'packages/transport-http', code: value('@mortise/client') },
  { rule: 'transport-not-to-transport', from: 'packages/transport-ws-custom', code: value('@mortise/transport-http') },
  { rule: 'transport-not-to-parts', from: 'packages/transport-http', code: value('@mortise/auth-oauth') },
  { rule: 'stdio-and-ws-take-types-or-edge', from: 'packages/transport-stdio', code: value('@mortise/protocol') },
  { rule: 'stdio-and-ws-take-types-or-edge', from: 'packages/transport-ws-custom', code: value('@mortise/protocol/contracts') },
  { rule: 'part-not-to-ends', from: 'packages/tasks', code: value('@mortise/server') },
  { rule: 'part-not-to-ends', from: 'packages/auth-oauth', code: value('@mortise/client') },
  { rule: 'part-not-to-transport', from: 'packages/store-sqlite', code: value('@mortise/transport-stdio') },
  { rule: 'part-not-to-part', from: 'packages/tasks', code: value('@mortise/store-sqlite') },
  { rule: 'part-not-to-part', from: 'packages/store-postgres', code: value('@mortise/store-redis') },
  { rule: 'part-not-to-part', from: 'packages/auth-proxy', code: value('@mortise/auth-oauth') },
  { rule: 'host-is-above-the-others', from: 'packages/client', code: value('@mortise/host') },
  { rule: 'host-not-to-parts', from: 'packages/host', code: value('@mortise/tasks') },
  { rule: 'model-libraries-only-at-their-entries', from: 'packages/host', code: value('ai') },
  { rule: 'openapi-builds-on-server', from: 'packages/openapi', code: value('@mortise/client') },
  { rule: 'inspector-is-above-the-client', from: 'packages/host', code: value('@mortise/inspector') },
  { rule: 'testkit-only-in-tests', from: 'packages/server', code: value('@mortise/transport-testkit') },
  { rule: 'testkit-imports-only-contracts', from: 'packages/transport-testkit', code: value('@mortise/protocol/contracts') },
  { rule: 'core-and-protocol-not-to-testkit', from: 'packages/jsonrpc-core/test', code: value('@mortise/transport-testkit') },
  { rule: 'core-and-protocol-not-to-testkit', from: 'packages/protocol/test', code: value('@mortise/transport-testkit') },
  { rule: 'nothing-imports-compat', from: 'packages/client', code: value('@mortise/compat-v1') },
  { rule: 'nothing-imports-an-app', from: 'packages/server', code: value('../../../apps/one/src/index.ts') },
  { rule: 'app-not-to-app', from: 'apps/one', code: value('../../two/src/index.ts') },
  { rule: 'no-reaching-into-packages', from: 'packages/server', code: value('../../protocol/src/index.ts') },
  { rule: 'no-reaching-into-packages', from: 'apps/one', code: value('../../../packages/server/src/index.ts') },
  { rule: 'no-node-in-edge-safe-entries', from: 'packages/server', code: value('node:fs') },
  { rule: 'no-node-in-edge-safe-entries', from: 'packages/client', code: value('./node/files.ts') },
  { rule: 'no-cycle', from: 'packages/client', code: value('./cycle-back.ts') },
  { rule: 'no-undeclared-dependency', from: 'packages/tasks', code: value('undeclared') },
  { rule: 'no-dev-dependency-in-src', from: 'packages/tasks', code: value('only-dev') },
  { rule: 'no-unresolvable', from: 'apps/one', code: value('@mortise/server/src/index.ts') },
];

const allowed: readonly Omit<Arrow, 'rule'>[] = [
  { from: 'packages/protocol', code: value('@mortise/jsonrpc-core') },
  { from: 'packages/protocol/src/contracts', code: type('@mortise/jsonrpc-core') },
  { from: 'packages/protocol/src/schemas', code: value('zod') },
  { from: 'packages/server', code: value('@mortise/protocol') },
  { from: 'packages/client', code: type('@mortise/protocol/contracts') },
  { from: 'packages/server/src/node', code: value('node:fs') },
  { from: 'packages/transport-stdio', code: type('@mortise/protocol/contracts') },
  { from: 'packages/transport-stdio', code: value('@mortise/protocol/edge') },
  { from: 'packages/transport-stdio', code: value('node:child_process') },
  { from: 'packages/transport-http', code: value('@mortise/protocol') },
  { from: 'packages/transport-testkit', code: type('@mortise/protocol/contracts') },
  { from: 'packages/server/test', code: value('@mortise/transport-testkit') },
  { from: 'packages/server/test', code: value('zod') },
  { from: 'packages/tasks', code: value('@mortise/protocol') },
  { from: 'packages/compat-v1', code: value('@mortise/client') },
  { from: 'packages/compat-v1', code: value('@mortise/transport-http') },
  { from: 'packages/compat-v1', code: value('@mortise/protocol/schemas') },
  { from: 'packages/compat-v1', code: value('zod') },
  { from: 'packages/host', code: value('@mortise/server') },
  { from: 'packages/openapi', code: value('@mortise/server') },
  { from: 'apps/one', code: value('@mortise/server') },
  { from: 'benchmarks', code: value('@mortise/client') },
];

const packages =
  'jsonrpc-core protocol server client transport-stdio transport-http transport-ws-custom transport-testkit tasks auth-oauth auth-proxy store-postgres store-redis store-sqlite compat-v1 host inspector openapi'.split(
    ' ',
  );
const subpaths: Readonly<Record<string, readonly string[]>> = { protocol: ['schemas', 'contracts', 'edge'] };

const fileOf = (arrow: Pick<Arrow, 'from'>, index: number, kind: string): string =>
  `${arrow.from}${/\/(?:src|test)(?:\/|$)/.test(arrow.from) ? '' : '/src'}/${kind}-${index}.ts`;

function filesOfPackage(name: string): Record<string, string> {
  const entries = ['index', ...(subpaths[name] ?? [])];
  const manifest = {
    name: `@mortise/${name}`,
    type: 'module',
    exports: Object.fromEntries(
      entries.map((entry) => [entry === 'index' ? '.' : `./${entry}`, { 'mortise-source': `./src/${entry}.ts` }]),
    ),
    dependencies: {
      zod: '*',
      'left-pad': '*',
      ai: '*',
      ...Object.fromEntries(packages.map((other) => [`@mortise/${other}`, 'workspace:*'])),
    },
    devDependencies: { 'only-dev': '*' },
  };
  const sources = entries.map((entry) => [`packages/${name}/src/${entry}.ts`, 'export const x = 1;\nexport type X = number;\n']);
  return { [`packages/${name}/package.json`]: JSON.stringify(manifest), ...Object.fromEntries(sources) };
}

function filesOfTree(): Record<string, string> {
  const cycle = forbidden.findIndex((arrow) => arrow.rule === 'no-cycle');
  const files: Record<string, string> = {
    'package.json': JSON.stringify({ name: 'tree', type: 'module' }),
    'benchmarks/package.json': JSON.stringify({ name: 'benchmarks', type: 'module', dependencies: { '@mortise/client': '*' } }),
    'packages/client/src/node/files.ts': "import { readFileSync } from 'node:fs';\nexport const x = readFileSync;\n",
    'packages/client/src/cycle-back.ts': `export { y as x } from './bad-${cycle}.ts';\n`,
  };
  for (const name of packages) Object.assign(files, filesOfPackage(name));
  for (const name of ['zod', 'left-pad', 'ai', 'undeclared', 'only-dev']) {
    files[`node_modules/${name}/package.json`] = JSON.stringify({ name, version: '1.0.0', type: 'module', exports: './index.js' });
    files[`node_modules/${name}/index.js`] = 'export const x = 1;\n';
  }
  for (const name of ['one', 'two']) {
    files[`apps/${name}/src/index.ts`] = 'export const x = 1;\n';
    files[`apps/${name}/package.json`] = JSON.stringify({ name, type: 'module', dependencies: { '@mortise/server': '*' } });
  }
  for (const [index, arrow] of forbidden.entries()) files[fileOf(arrow, index, 'bad')] = arrow.code;
  for (const [index, arrow] of allowed.entries()) files[fileOf(arrow, index, 'good')] = arrow.code;
  return files;
}

const tree = writeTree(filesOfTree(), afterAll);
let violations: readonly { readonly rule: string; readonly from: string }[];

beforeAll(async () => {
  mkdirSync(join(tree, 'node_modules/@mortise'));
  for (const name of packages) symlinkSync(join(tree, 'packages', name), join(tree, 'node_modules/@mortise', name), 'dir');
  const binary = join(root, 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs');
  const args = ['--config', join(root, '.dependency-cruiser.mjs'), '--output-type', 'json', 'packages', 'apps', 'benchmarks'];
  const { stdout } = await runNode([binary, ...args], { cwd: tree });
  const report = JSON.parse(stdout) as { summary: { violations: { rule: { name: string }; from: string }[] } };
  violations = report.summary.violations.map(({ rule, from }) => ({ rule: rule.name, from }));
});

describe('the import graph', () => {
  it.each(forbidden.map((arrow, index) => ({ ...arrow, file: fileOf(arrow, index, 'bad') })))('$rule refuses $file', ({ rule, file }) => {
    expect(violations.filter(({ from }) => from === file).map((violation) => violation.rule)).toContain(rule);
  });

  it('lets every allowed arrow through', () => {
    const good = allowed.map((arrow, index) => fileOf(arrow, index, 'good'));
    expect(violations.filter(({ from }) => good.includes(from))).toEqual([]);
  });

  it('has an arrow here for every rule that it states, and a sentence with each', () => {
    const drawn = new Set(forbidden.map((arrow) => arrow.rule));
    expect(config.forbidden.filter((rule) => !drawn.has(String(rule.name))).map((rule) => rule.name)).toEqual([]);
    expect(config.forbidden.filter((rule) => !/[.]$/.test(rule.comment ?? '')).map((rule) => rule.name)).toEqual([]);
  });
});
