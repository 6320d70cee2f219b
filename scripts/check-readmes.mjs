/**
 * The gate `readmes`: every fenced `ts` block of every page (READMEs and `docs/`) compiles, and those that say so run.
 * `node scripts/check-readmes.mjs how-to/host README` checks the pages whose path contains one of the words.
 *
 * The words after `ts` on the fence: `run` runs the program, which must end with code 0; where the next fence is
 * `text output`, it must print exactly that. `continues` puts the block below the one before it, as one program.
 * A word with a dot, such as `server.ts`, is a file of the page, which the page's later programs can import; a later block of
 * the same name replaces it. A page whose front matter says `continues: <page>` begins with the files of that page of its folder.
 * A program imports only what an `npm install` of its page brings (apps, which are run in the repository, need none).
 * Links to files lead somewhere; those of packages name the repository, since a registry shows the page. The build of the site
 * checks links to the generated reference, `reference/api/`.
 * The README of a package has at most 120 lines.
 * The programs are written to `.cache/readmes`, where `@mortise/*` stands for the packages' sources.
 */

import { build } from 'esbuild';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { root, runNode } from './run-command.mjs';
import { packageEntries } from './workspace-packages.mjs';

/**
 * @typedef {{ readme: string, line: number, file: string, code: string, run: boolean, output?: string, files: Map<string, string> }} Program
 *   `file`: where it is written; `files`: what the page's files hold at that point, by name.
 */

const target = '.cache/readmes';
const runTimeoutMs = 60_000;
const maxLines = 120;
/** What programs import that is installed for one package alone, by package. */
const libraries = {
  'auth-oauth': ['oidc-provider', '@types/oidc-provider'],
  host: ['ai', 'openai', '@anthropic-ai/sdk', 'langchain'],
  'store-redis': ['@redis/client'],
  tasks: ['pg-boss'],
  'transport-http': ['express', 'fastify', 'hono', '@types/express'],
};
const repository = /^https:\/\/github\.com\/mortise\/mortise\/(?:blob|tree)\/main\//;
/** Pages for those who build Mortise, and what programs write. */
const notRead = /^docs\/(?:decisions|node_modules|\.vitepress|public|reference\/api|spec-coverage)/;
/** Codes of Node, which have no page. */
const nodeCodes = /^ERR_(?:MODULE_NOT_FOUND|REQUIRE_ESM)$/;
const read = (file) => readFileSync(join(root, file), 'utf8');

/**
 * @param {readonly string[]} [words] Only pages whose path contains one of these.
 * @returns {Promise<readonly string[]>} A text for each fault.
 */
export async function findFaultsOfReadmes(words = ['']) {
  const readmes = listReadmes().filter((readme) => words.some((word) => readme.includes(word)));
  const programs = readmes.flatMap((readme) => readPage(readme).programs);
  writePrograms(programs);
  const faults = [
    ...readmes.flatMap(findTooLong),
    ...readmes.flatMap(findBrokenLinks),
    ...readmes.flatMap(findUnreadable),
    ...programs.flatMap(findMissingInstalls),
    ...(await compile(programs)),
  ];
  const runnable = programs.filter(({ run }) => run);
  await bundle(runnable);
  for (const program of runnable) faults.push(...(await run(program)));
  return faults;
}

export function listReadmes() {
  const folders = ['packages', 'apps'].flatMap((parent) => readdirSync(join(root, parent)).map((name) => `${parent}/${name}/README.md`));
  const docs = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' }).map((name) => `docs/${name.replaceAll('\\', '/')}`);
  const all = [
    'README.md',
    'CONTRIBUTING.md',
    'SECURITY.md',
    'benchmarks/README.md',
    ...folders,
    ...docs.filter((file) => !notRead.test(file)),
  ];
  return all.filter((file) => file.endsWith('.md') && existsSync(join(root, file)));
}

/**
 * @returns {{ programs: readonly Program[], files: Map<string, string> }} What a page has; of its files, and of those of the page that it
 *   goes on from, what they hold at its end.
 */
function readPage(readme) {
  const before = pageBefore(readme);
  const files = before === undefined ? new Map() : readPage(before).files;
  const programs = [];
  let previous;
  for (const { language, words, line, text, name, isContinued } of fencesOf(readme)) {
    const last = programs.at(-1);
    if (name !== undefined) files.set(name, text);
    if (isContinued) Object.assign(last, { code: text, run: last.run || words.includes('run') });
    else if (language === 'ts') {
      const place = `${readme.replace(/\.md$/, '').replaceAll('/', '-').toLowerCase()}-${line}`;
      // JavaScript is checked as TypeScript.
      const file = name === undefined ? `${place}.ts` : `${place}/${name.replace(/\.js$/, '.ts')}`;
      programs.push({ readme, line, file, files: new Map(files), code: text, run: words.includes('run') });
    } else if (words.includes('output') && previous === 'ts') last.output = text;
    previous = language;
  }
  return { programs, files };
}

/** A word of a fence that is the name of a file: `server.ts`, `src/app.ts`, `.env`. */
export function isFileName(word) {
  return /^[\w./-]*\.[a-z]+$/.test(word);
}

/** The page that a page goes on from, by its front matter. */
export function pageBefore(readme) {
  const name = /^---\n(?:.*\n)*?continues: (\S+)\n(?:.*\n)*?---\n/.exec(read(readme))?.[1];
  return name === undefined ? undefined : `${dirname(readme)}/${name}.md`;
}

/**
 * The fenced blocks of a page. `line` is that of the block's first line. From `text` the fence's indentation is taken; where the block
 * continues the program above, it is the whole program so far, and `name` that of its file.
 */
export function fencesOf(readme) {
  const markdown = read(readme);
  const fences = [];
  for (const { index, 1: indent, 3: language, 4: info, 5: block } of markdown.matchAll(/^( *)(`{3,})(\S*) *(.*)\n([^]*?)^ *\2$/gm)) {
    const words = info.split(' ');
    const text = block.replaceAll(new RegExp(`^${indent}`, 'gm'), '');
    const line = markdown.slice(0, index).split('\n').length;
    const above = language === 'ts' && words.includes('continues') ? fences.findLast((fence) => fence.language === 'ts') : undefined;
    const isContinued = above !== undefined;
    const name = words.find(isFileName) ?? above?.name;
    fences.push({ language, words, line, name, isContinued, text: isContinued ? `${above.text}\n${text}` : text });
  }
  return fences;
}

function findTooLong(readme) {
  const lines = read(readme).trimEnd().split('\n').length;
  return readme.startsWith('packages/') && lines > maxLines ? [`${readme} has ${lines} lines: at most ${maxLines}`] : [];
}

/** Invalid JSON blocks, error codes without a page, and images without alternative text. */
function findUnreadable(readme) {
  const blocks = fencesOf(readme).filter(({ language, text }) => language === 'json' && !isJson(text));
  const codes = new Set([...read(readme).matchAll(/\bERR_[A-Z_]+\b/g)].map(([code]) => code));
  const unknown = [...codes].filter((code) => !nodeCodes.test(code) && !existsSync(join(root, `docs/reference/errors/${code}.md`)));
  return [
    ...blocks.map(({ line }) => `${readme}:${line} is not valid JSON`),
    ...unknown.map((code) => `${readme} names ${code}, which has no page in docs/reference/errors`),
    ...(read(readme).includes('![](') ? [`${readme} has an image without alternative text`] : []),
  ];
}

function isJson(text) {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Links to files of ours that are not there, and those that would lead nowhere from a registry's page. */
function findBrokenLinks(readme) {
  const links = [...read(readme).matchAll(/\]\(([^)#\s]+)[^)\s]*\)/g)].map(([, link]) => link);
  return links.flatMap((link) => {
    if (/^[a-z]+:/.test(link) && !repository.test(link)) return [];
    if (readme.startsWith('packages/') && !repository.test(link)) return [`${readme}: the link ${link} does not name the repository`];
    // The site serves docs/public at its root.
    const here = link.startsWith('/') ? join(root, 'docs/public', link) : resolve(root, dirname(readme), link);
    const file = repository.test(link) ? join(root, link.replace(repository, '')) : here;
    return existsSync(file) || file.startsWith(join(root, 'docs/reference/api/')) ? [] : [`${readme}: the link ${link} leads nowhere`];
  });
}

/** What a reader who does as the README says does not have. */
function findMissingInstalls({ readme, line, code }) {
  if (readme.startsWith('apps/')) return [];
  if (pageBefore(readme) !== undefined) return [];
  const shell = fencesOf(readme).filter(({ language }) => language === 'sh');
  const lines = shell.flatMap(({ text }) => [...text.matchAll(/\bnpm install ([^#&\n]*)/g)].map(([, words]) => words));
  const installed = lines.flatMap((words) => words.split(/\s+/).map((word) => word.replace(/(?<=.)@.*$/, '')));
  const imported = [...code.matchAll(/\bfrom '((?:@[^/']+\/)?[^./'][^/']*)/g)].map(([, name]) => name);
  const missing = [...new Set(imported)].filter((name) => !/^(?:node|bun|cloudflare):/.test(name) && !installed.includes(name));
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
    paths: Object.fromEntries(packageEntries().map(({ name, source }) => [name, [`../../${source}`]])),
  };
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ extends: '../../tsconfig.base.json', compilerOptions, include: ['**/*.ts'] }),
  );
  for (const { file, code, files } of programs) {
    for (const [name, text] of file.includes('/') ? files : []) {
      mkdirSync(dirname(join(folder, dirname(file), name)), { recursive: true });
      writeFileSync(join(folder, dirname(file), name), text);
    }
    writeFileSync(join(folder, file), `${code}\nexport {};\n`);
  }
  for (const [name, names] of Object.entries(libraries)) {
    for (const library of names) {
      const link = join(folder, 'node_modules', library);
      mkdirSync(dirname(link), { recursive: true });
      symlinkSync(join(root, `packages/${name}/node_modules`, library), link, 'dir');
    }
  }
}

async function compile(programs) {
  if (programs.length === 0) return [];
  const { code, output } = await runNode(['node_modules/typescript/bin/tsc', '-p', target, '--pretty', 'false']);
  if (code === 0) return [];
  const places = output.replace(/^(?:\.cache\/readmes\/)?([\w./-]+\.ts)\((\d+),/gm, (whole, file, line) => {
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
    outbase: join(root, target),
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

if (process.argv[1] === import.meta.filename) {
  const words = process.argv.slice(2);
  const faults = await findFaultsOfReadmes(words.length === 0 ? undefined : words);
  for (const fault of faults) console.log(fault);
  process.exitCode = faults.length === 0 ? 0 : 1;
}
