/**
 * The gate `readmes`: every fenced `ts` block of every README compiles, and those that say so run.
 *
 * The words after `ts` on the fence: `run` runs the program, which must end with code 0; where the next fence is
 * `text output`, it must print exactly that. `continues` puts the block below the one before it, as one program.
 * A program imports only what an `npm install` of its README brings (apps, which are run in the repository, need none).
 * Links to files lead somewhere; those of packages name the repository, since a registry shows the page.
 * Each README's programs are written to `.cache/readmes`, where `@mortise/*` stands for the packages' sources.
 */

import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);
const root = resolve(import.meta.dirname, '..');
const target = join(root, '.cache/readmes');
const runTimeoutMs = 60_000;

interface Fence {
  readonly language: string;
  readonly words: readonly string[];
  readonly line: number;
  readonly text: string;
}

interface Program {
  readonly readme: string;
  readonly line: number;
  readonly file: string;
  code: string;
  run: boolean;
  output?: string;
}

const programs = readmes().flatMap((readme) => programsOf(readme));
writePrograms(programs);
const failures = [
  ...readmes().flatMap(brokenLinks),
  ...missingInstalls(programs),
  ...(await compile(programs)),
  ...(await runAll(programs.filter((program) => program.run))),
];
for (const failure of failures) console.error(`${failure}\n`);
console.log(
  `${programs.length} programs in ${new Set(programs.map((program) => program.readme)).size} READMEs, ${programs.filter((program) => program.run).length} of them run`,
);
process.exitCode = failures.length === 0 ? 0 : 1;

function readmes(): string[] {
  const below = (parent: string): string[] =>
    existsSync(join(root, parent)) ? readdirSync(join(root, parent)).map((name) => `${parent}/${name}/README.md`) : [];
  const guides = existsSync(join(root, 'docs/guides')) ? readdirSync(join(root, 'docs/guides')).map((name) => `docs/guides/${name}`) : [];
  const all = [
    'README.md',
    'CONTRIBUTING.md',
    ...below('packages'),
    ...below('apps'),
    'benchmarks/README.md',
    ...guides.filter((file) => file.endsWith('.md')),
  ];
  return all.filter((file) => existsSync(join(root, file)));
}

function programsOf(readme: string): Program[] {
  const found: Program[] = [];
  let previous: Fence | undefined;
  for (const fence of fencesOf(readFileSync(join(root, readme), 'utf8'))) {
    const last = found.at(-1);
    if (fence.language === 'ts' && fence.words.includes('continues') && last !== undefined) {
      last.code += `\n${fence.text}`;
      last.run ||= fence.words.includes('run');
    } else if (fence.language === 'ts') {
      const file = `${readme.replace(/\.md$/, '').replaceAll('/', '-').toLowerCase()}-${fence.line}.ts`;
      found.push({ readme, line: fence.line, file, code: fence.text, run: fence.words.includes('run') });
    } else if (fence.words.includes('output') && previous?.language === 'ts' && last !== undefined) {
      last.output = fence.text;
    }
    previous = fence;
  }
  return found;
}

function fencesOf(markdown: string): Fence[] {
  const fences: Fence[] = [];
  const lines = markdown.split(/\r?\n/);
  for (let index = 0; index < lines.length; index += 1) {
    const open = /^(\s*)(`{3,})(\S*)\s*(.*)$/.exec(lines[index] ?? '');
    if (open === null) continue;
    const [, indent = '', ticks = '', language = '', rest = ''] = open;
    const start = index + 1;
    let end = start;
    while (end < lines.length && (lines[end] ?? '').trim() !== ticks) end += 1;
    const text = lines.slice(start, end).map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line));
    fences.push({ language, words: rest.split(/\s+/).filter(Boolean), line: start, text: `${text.join('\n')}\n` });
    index = end;
  }
  return fences;
}

/** Links to files of ours that are not there, and those that would lead nowhere from a registry's page. */
function brokenLinks(readme: string): string[] {
  const repository = /^https:\/\/github\.com\/mortise\/mortise\/(?:blob|tree)\/main\//;
  const links = [...readFileSync(join(root, readme), 'utf8').matchAll(/\]\(([^)#\s]+)[^)\s]*\)/g)].map((match) => match[1] ?? '');
  return links.flatMap((link) => {
    if (/^[a-z]+:/.test(link) && !repository.test(link)) return [];
    if (readme.startsWith('packages/') && !repository.test(link)) return [`${readme}: the link ${link} does not name the repository`];
    const file = repository.test(link) ? join(root, link.replace(repository, '')) : resolve(root, dirname(readme), link);
    return existsSync(file) ? [] : [`${readme}: the link ${link} leads nowhere`];
  });
}

/** What a reader who does as the README says does not have. */
function missingInstalls(all: readonly Program[]): string[] {
  return all.flatMap(({ readme, line, code }) => {
    if (readme.startsWith('apps/')) return [];
    const imported = new Set([...code.matchAll(/\bfrom '((?:@[^/']+\/)?[^./'][^/']*)/g)].map((match) => match[1] ?? ''));
    const missing = [...imported].filter((name) => !name.startsWith('node:') && !installedBy(readme).includes(name));
    return missing.length === 0 ? [] : [`${readme}:${line} imports ${missing.join(', ')}, which no \`npm install\` of the page brings`];
  });
}

/** The packages that the `npm install` lines of a page name. */
function installedBy(readme: string): string[] {
  const shell = fencesOf(readFileSync(join(root, readme), 'utf8')).filter((fence) => fence.language === 'sh');
  const lines = shell.flatMap(({ text }) => [...text.matchAll(/\bnpm install ([^#&\n]*)/g)].map((match) => match[1] ?? ''));
  return lines.flatMap((words) => words.split(/\s+/).map((word) => word.replace(/(?<=.)@.*$/, '')));
}

function writePrograms(all: readonly Program[]): void {
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  writeFileSync(join(target, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  writeFileSync(
    join(target, 'tsconfig.json'),
    JSON.stringify({
      extends: '../../tsconfig.base.json',
      compilerOptions: {
        noEmit: true,
        customConditions: ['mortise-source'],
        allowImportingTsExtensions: true,
        declaration: false,
        declarationMap: false,
        noUnusedLocals: false,
        noUnusedParameters: false,
        types: ['node'],
        paths: sourcePaths(),
      },
      include: ['*.ts'],
    }),
  );
  for (const { file, code } of all) writeFileSync(join(target, file), `${code}\nexport {};\n`);
}

/** `@mortise/x/y` -> the source file that the package's exports name for development. */
function sourcePaths(): Record<string, string[]> {
  const paths: Record<string, string[]> = {};
  for (const folder of readdirSync(join(root, 'packages'))) {
    const manifestFile = join(root, 'packages', folder, 'package.json');
    if (!existsSync(manifestFile)) continue;
    const manifest = JSON.parse(readFileSync(manifestFile, 'utf8')) as {
      name: string;
      exports: Record<string, string | Record<string, string>>;
    };
    for (const [subpath, entry] of Object.entries(manifest.exports)) {
      const source = typeof entry === 'string' ? undefined : entry['mortise-source'];
      if (source !== undefined) paths[`${manifest.name}${subpath.slice(1)}`] = [`../../packages/${folder}/${source}`];
    }
  }
  return paths;
}

async function compile(all: readonly Program[]): Promise<string[]> {
  if (all.length === 0) return [];
  const { failed, text } = await node([join(root, 'node_modules/typescript/bin/tsc'), '-p', target, '--pretty', 'false']);
  if (!failed) return [];
  const places = text.replace(/^(?:\.cache\/readmes\/)?([a-z0-9.-]+\.ts)\((\d+),/gm, (whole, file: string, line: string) => {
    const program = all.find((each) => each.file === file);
    return program === undefined ? whole : `${program.readme}(${program.line + Number(line)},`;
  });
  return [`A block does not compile:\n${places.trimEnd()}`];
}

async function runAll(all: readonly Program[]): Promise<string[]> {
  const failures: string[] = [];
  for (const program of all) {
    const { failed, text, stdout } = await node([
      join(root, 'node_modules/tsx/dist/cli.mjs'),
      '--tsconfig',
      join(target, 'tsconfig.json'),
      join(target, program.file),
    ]);
    const place = `${program.readme}:${program.line}`;
    if (failed) failures.push(`${place} does not run:\n${text.trimEnd()}`);
    else if (program.output !== undefined && stdout.trimEnd() !== program.output.trimEnd()) {
      failures.push(
        `${place} prints something else than its README says.\n--- it prints\n${stdout.trimEnd()}\n--- the README says\n${program.output.trimEnd()}`,
      );
    }
  }
  return failures;
}

async function node(args: readonly string[]): Promise<{ failed: boolean; text: string; stdout: string }> {
  try {
    const { stdout, stderr } = await execute(process.execPath, [...args], { cwd: root, timeout: runTimeoutMs, maxBuffer: 1 << 26 });
    return { failed: false, text: stdout + stderr, stdout };
  } catch (error) {
    const { stdout = '', stderr = '', message = '' } = error as { stdout?: string; stderr?: string; message?: string };
    return { failed: true, text: stdout + stderr === '' ? message : stdout + stderr, stdout };
  }
}
