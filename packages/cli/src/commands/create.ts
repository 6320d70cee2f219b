/** `mortise create`: a new project that runs and tests at once. */

import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { ownFile } from '../own-file.ts';
import { CliError } from '../errors.ts';
import { clean, type Terminal } from '../terminal.ts';

const KINDS = ['server', 'http-server', 'client', 'host'] as const;
type Kind = (typeof KINDS)[number];

/** What each kind needs of ours at run time, and for its tests. */
const PACKAGES: Readonly<Record<Kind, readonly [readonly string[], readonly string[]]>> = {
  server: [
    ['server', 'transport-stdio'],
    ['cli', 'client'],
  ],
  'http-server': [
    ['server', 'transport-http'],
    ['cli', 'client'],
  ],
  client: [['client', 'transport-http', 'transport-stdio'], ['server']],
  host: [['host'], ['client', 'server']],
};

/** Versions of what is not ours. */
const OTHERS = { '@types/node': '^20.19.0', tsx: '^4.20.0', typescript: '^5.9.0', vitest: '^4.1.0', zod: '^4.0.0' };

export function addCreate(program: Command, terminal: Terminal): void {
  program
    .command('create <folder>')
    .description('Write a new project in TypeScript, with tests')
    .addOption(new Option('-k, --kind <kind>', 'what to write').choices(KINDS).default('server'))
    .addHelpText('after', '\nExample:\n  mortise create my-server && cd my-server && npm install && npm test')
    .action((folder: string, { kind }: { readonly kind: Kind }) => create(resolve(terminal.io.cwd, folder), kind, terminal));
}

function create(folder: string, kind: Kind, terminal: Terminal): void {
  if (existsSync(folder) && (!statSync(folder).isDirectory() || readdirSync(folder).length > 0))
    throw new CliError(`${clean(folder)} already exists and is not empty: choose another folder`);
  const name = toPackageName(basename(folder));
  const isHttp = kind === 'http-server';
  const words = {
    name,
    how: isHttp ? 'it on http://127.0.0.1:3000/mcp' : 'it over stdio',
  };
  const source = join(ownFile('templates'), isHttp ? 'server' : kind);
  for (const file of readdirSync(source, { recursive: true, encoding: 'utf8' })) {
    const path = join(source, file);
    if (statSync(path).isFile()) write(join(folder, file), fill(readFileSync(path, 'utf8'), words));
  }
  write(join(folder, 'package.json'), toJson(toManifest(name, kind)));
  write(join(folder, 'tsconfig.json'), toJson(TSCONFIG));
  write(join(folder, '.gitignore'), 'node_modules\n');
  const next = isHttp || kind === 'server' ? '  npm run dev    # a page to try it in' : '  npm start';
  terminal.print(`${terminal.style('green', 'written')} ${clean(folder)}\n\n  cd ${clean(folder)}\n  npm install\n  npm test\n${next}`);
}

const TSCONFIG = {
  compilerOptions: {
    target: 'es2023',
    lib: ['es2023', 'esnext.disposable'],
    module: 'nodenext',
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    verbatimModuleSyntax: true,
    allowImportingTsExtensions: true,
    skipLibCheck: true,
    noEmit: true,
    types: ['node'],
  },
  include: ['src', 'test'],
};

/** What npm allows as a name. */
const toPackageName = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/^[._-]+|-+$/g, '') || 'my-server';

const fill = (text: string, words: Readonly<Record<string, string>>): string =>
  text.replace(/\{\{(\w+)\}\}/g, (all, word: string) => words[word] ?? all);

const toJson = (value: object): string => `${JSON.stringify(value, null, 2)}\n`;

function toManifest(name: string, kind: Kind): object {
  const { version, dependencies } = JSON.parse(readFileSync(ownFile('package.json'), 'utf8')) as {
    version: string;
    dependencies: Record<string, string>;
  };
  const ours = (names: readonly string[]): Record<string, string> =>
    Object.fromEntries(names.map((each) => `@mortise/${each}`).map((each) => [each, toRange(dependencies[each] ?? version)]));
  const [own, forTests] = PACKAGES[kind];
  const { zod, tsx, ...tools } = OTHERS;
  const isServer = kind === 'server' || kind === 'http-server';
  return {
    name,
    version: '0.1.0',
    private: true,
    type: 'module',
    scripts: toScripts(kind),
    dependencies: { ...ours(own), ...(isServer ? { zod } : {}) },
    devDependencies: { ...ours(forTests), ...(isServer ? {} : { tsx }), ...tools },
  };
}

/** In this repository dependencies have the version `workspace:*`. */
const toRange = (version: string): string => (version.startsWith('workspace:') ? '*' : `^${version.replace(/^[\^~]/, '')}`);

function toScripts(kind: Kind): object {
  const checks = { check: 'tsc', test: 'vitest run' };
  if (kind === 'client' || kind === 'host') return { start: 'tsx src/main.ts', ...checks };
  const start = `mortise run src/server.ts${kind === 'http-server' ? ' --http --port 3000' : ''}`;
  return { start, dev: 'mortise dev src/server.ts', ...checks };
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
