/**
 * The gate `readmes`: every fenced `ts` block of every README compiles, and those that say so run.
 *
 * The words after `ts` on the fence: `run` runs the program, which must end with code 0; where the next fence is
 * `text output`, it must print exactly that. `continues` puts the block below the one before it, as one program.
 * A program imports only what an `npm install` of its README brings (apps, which are run in the repository, need none).
 * Links to files lead somewhere; those of packages name the repository, since a registry shows the page.
 * Each README's programs are written to `.cache/readmes`, where `@mortise/*` stands for the packages' sources.
 */

import { build } from 'esbuild';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { root, runNode } from './run-command.mjs';
import { packageManifests } from './workspace-packages.mjs';

/** @typedef {{ readme: string, line: number, file: string, code: string, run: boolean, output?: string }} Program */

const target = '.cache/readmes';
const runTimeoutMs = 60_000;
/** What programs import that is installed for one package alone, by package. */
const libraries = { host: ['ai', 'openai', '@anthropic-ai/sdk', 'langchain'], 'store-redis': ['@redis/client'], tasks: ['pg-boss'] };
const repository = /^https:\/\/github\.com\/mortise\/mortise\/(?:blob|tree)\/main\//;
const read = (file) => readFileSync(join(root, file), 'utf8');

/** @returns {Promise<readonly string[]>} A text for each fault. */
export async function findFaultsOfReadmes() {
  const readmes = listReadmes();
  const programs = readmes.flatMap(programsOf);
  writePrograms(programs);
  const faults = [...readmes.flatMap(findBrokenLinks), ...programs.flatMap(findMissingInstalls), ...(await compile(programs))];
  const runnable = programs.filter(({ run }) => run);
  await bundle(runnable);
  for (const program of runnable) faults.push(...(await run(program)));
  return faults;
}

function listReadmes() {
  const folders = ['packages', 'apps'].flatMap((parent) => readdirSync(join(root, parent)).map((name) => `${parent}/${name}/README.md`));
  const guides = readdirSync(join(root, 'docs/how-to')).map((name) => `docs/how-to/${name}`);
  const all = ['README.md', 'CONTRIBUTING.md', 'benchmarks/README.md', ...folders, ...guides];
  return all.filter((file) => file.endsWith('.md') && existsSync(join(root, file)));
}

/** @returns {Program[]} */
function programsOf(readme) {
  const found = [];
  let previous;
  for (const { language, words, line, text } of fencesOf(readme)) {
    const last = found.at(-1);
    if (language === 'ts' && words.includes('continues') && last !== undefined) {
      last.code += `\n${text}`;
      last.run ||= words.includes('run');
    } else if (language === 'ts') {
      const file = `${readme.replace(/\.md$/, '').replaceAll('/', '-').toLowerCase()}-${line}.ts`;
      found.push({ readme, line, file, code: text, run: words.includes('run') });
    } else if (words.includes('output') && previous === 'ts' && last !== undefined) last.output = text;
    previous = language;
  }
  return found;
}

/** Its fenced blocks. `line` is that of the first line of `text`, from which the fence's indentation is taken. */
function fencesOf(readme) {
  const markdown = read(readme);
  return [...markdown.matchAll(/^( *)(`{3,})(\S*) *(.*)\n([^]*?)^ *\2$/gm)].map(({ index, 1: indent, 3: language, 4: words, 5: text }) => ({
    language,
    words: words.split(' '),
    line: markdown.slice(0, index).split('\n').length,
    text: text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  }));
}

/** Links to files of ours that are not there, and those that would lead nowhere from a registry's page. */
function findBrokenLinks(readme) {
  const links = [...read(readme).matchAll(/\]\(([^)#\s]+)[^)\s]*\)/g)].map(([, link]) => link);
  return links.flatMap((link) => {
    if (/^[a-z]+:/.test(link) && !repository.test(link)) return [];
    if (readme.startsWith('packages/') && !repository.test(link)) return [`${readme}: the link ${link} does not name the repository`];
    const file = repository.test(link) ? join(root, link.replace(repository, '')) : resolve(root, dirname(readme), link);
    return existsSync(file) ? [] : [`${readme}: the link ${link} leads nowhere`];
  });
}

/** What a reader who does as the README says does not have. */
function findMissingInstalls({ readme, line, code }) {
  if (readme.startsWith('apps/')) return [];
  const shell = fencesOf(readme).filter(({ language }) => language === 'sh');
  const lines = shell.flatMap(({ text }) => [...text.matchAll(/\bnpm install ([^#&\n]*)/g)].map(([, words]) => words));
  const installed = lines.flatMap((words) => words.split(/\s+/).map((word) => word.replace(/(?<=.)@.*$/, '')));
  const imported = [...code.matchAll(/\bfrom '((?:@[^/']+\/)?[^./'][^/']*)/g)].map(([, name]) => name);
  const missing = [...new Set(imported)].filter((name) => !name.startsWith('node:') && !installed.includes(name));
  return missing.length === 0 ? [] : [`${readme}:${line} imports ${missing.join(', ')}, which no \`npm install\` of the page brings`];
}

function writePrograms(programs) {
  const folder = join(root, target);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const options = { noEmit: true, allowImportingTsExtensions: true, declaration: false, declarationMap: false, types: ['node'] };
  const compilerOptions = {
    ...options,
    noUnusedLocals: false,
    noUnusedParameters: false,
    customConditions: ['mortise-source'],
    paths: sourcePaths(),
  };
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ extends: '../../tsconfig.base.json', compilerOptions, include: ['*.ts'] }));
  for (const { file, code } of programs) writeFileSync(join(folder, file), `${code}\nexport {};\n`);
  for (const [name, names] of Object.entries(libraries)) {
    for (const library of names) {
      const link = join(folder, 'node_modules', library);
      mkdirSync(dirname(link), { recursive: true });
      symlinkSync(join(root, `packages/${name}/node_modules`, library), link, 'dir');
    }
  }
}

/** `@mortise/x/y` -> the source file that the package's exports name for development. */
function sourcePaths() {
  const entries = packageManifests().flatMap(({ folder, name, exports }) =>
    Object.entries(exports).map(
      ([subpath, { 'mortise-source': source }]) => source && [name + subpath.slice(1), [`../../packages/${folder}/${source}`]],
    ),
  );
  return Object.fromEntries(entries.filter(Boolean));
}

async function compile(programs) {
  const { code, output } = await runNode(['node_modules/typescript/bin/tsc', '-p', target, '--pretty', 'false']);
  if (code === 0) return [];
  const places = output.replace(/^(?:\.cache\/readmes\/)?([a-z0-9.-]+\.ts)\((\d+),/gm, (whole, file, line) => {
    const program = programs.find((each) => each.file === file);
    return program === undefined ? whole : `${program.readme}(${program.line + Number(line)},`;
  });
  return [`A block does not compile:\n${places.trimEnd()}`];
}

/** All at once and from the sources: each program then starts as fast as a built one. */
async function bundle(programs) {
  await build({
    entryPoints: programs.map(({ file }) => join(root, target, file)),
    outdir: join(root, target, 'run'),
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    conditions: ['mortise-source'],
    logLevel: 'warning',
    // What is CommonJS among the dependencies asks for built-in modules by require.
    banner: { js: "import { createRequire as toRequire } from 'node:module'; const require = toRequire(import.meta.url);" },
  });
}

async function run({ readme, line, file, output: promised }) {
  const { code, stdout, output } = await runNode([`${target}/run/${file.replace(/ts$/, 'js')}`], { timeoutMs: runTimeoutMs });
  const printed = stdout.trimEnd();
  if (code !== 0) return [`${readme}:${line} does not run:\n${output.trimEnd()}`];
  if (promised === undefined || printed === promised.trimEnd()) return [];
  return [
    `${readme}:${line} prints something else than its README says.\n--- it prints\n${printed}\n--- the README says\n${promised.trimEnd()}`,
  ];
}
