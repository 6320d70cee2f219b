/**
 * The second half of a package's build, after tsc has written its declarations: joins the package's own modules into one file
 * an entry. Everything from other packages stays an import, so that all packages share one copy of each, but for what package.json lists
 * among its devDependencies: that is joined in. What entries share goes into chunks, but for those of the entry that programs start
 * with, which is named as the argument: its chunks are joined into it, and the other entries import from there. Entries whose
 * `default` is one file (see docs/decisions/entry-points.md) are joined into it. At last white space and the long names of local variables are taken out, and declarations that
 * no entry leads to. See docs/decisions/joined-modules.md for what this saves at start-up and on disk.
 */

import { appendFile, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { build } from 'esbuild';
import { minify } from 'terser';
import { pruneDeclarations } from './prune-declarations.mjs';

const [startEntry] = process.argv.slice(2);
const { exports, devDependencies = {}, peerDependencies = {} } = JSON.parse(await readFile('package.json', 'utf8'));
/** What each built file is made of: its entries' sources. */
const sourcesOf = new Map();
for (const { 'mortise-source': source, default: file } of Object.values(exports)) {
  if (source === undefined) continue;
  sourcesOf.set(file, [...(sourcesOf.get(file) ?? []), source]);
}
const entryPoints = [...sourcesOf.keys()].map((file) => ({ in: file, out: file.slice('./dist/'.length, -'.js'.length) }));

/** An entry file as the bundler sees it: everything that its sources export. */
const entries = {
  name: 'entries',
  setup(plugin) {
    plugin.onResolve({ filter: /^\.\/dist\// }, ({ path, kind }) => (kind === 'entry-point' ? { path, namespace: 'entry' } : undefined));
    plugin.onLoad({ filter: /^/, namespace: 'entry' }, ({ path }) => ({
      contents: sourcesOf
        .get(path)
        .map((source) => `export * from '${source}';`)
        .join('\n'),
      resolveDir: '.',
    }));
  },
};

/** Other packages stay imports. What is needed to build alone (and is no peer too) is nowhere when the package runs, so it is joined in. */
const otherPackages = {
  name: 'other-packages',
  setup(plugin) {
    plugin.onResolve({ filter: /^[^./]/ }, ({ path, kind, importer }) => {
      const name = /^(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? path;
      const isJoined = name in devDependencies && !(name in peerDependencies);
      return kind === 'entry-point' || isJoined || importer.includes('/node_modules/') ? undefined : { path, external: true };
    });
  },
};

/**
 * Imports of our own packages name the entry that is the same file as another's by the shorter name: Node resolves each name by itself,
 * and knows only afterwards that the file is loaded already. Our packages depend on one another by exact versions.
 */
const shorterNames = {
  name: 'shorter-names',
  setup(plugin) {
    const files = new Map();
    const readExports = async (name) => JSON.parse(await readFile(join('node_modules', name, 'package.json'), 'utf8')).exports;
    plugin.onResolve({ filter: /^@mortise\/[^/]+\/./ }, async ({ path }) => {
      const [scope, folder, ...rest] = path.split('/');
      const name = `${scope}/${folder}`;
      if (!files.has(name)) files.set(name, readExports(name));
      const targets = await files.get(name);
      const isSame = targets[`./${rest.join('/')}`]?.default === targets['.']?.default;
      return { path: isSame ? name : path, external: true, sideEffects: false };
    });
  },
};

// What an earlier build left would be published: files whose module is joined now, chunks of another name.
for (const file of await readdir('dist', { recursive: true })) {
  if (/\.js(?:\.map)?$/.test(file)) await rm(`dist/${file}`);
}

const options = {
  outdir: 'dist',
  bundle: true,
  external: ['node:*'],
  format: 'esm',
  platform: 'neutral',
  target: 'es2023',
  sourcemap: true,
  sourcesContent: false,
};
const { metafile } = await build({
  ...options,
  entryPoints,
  plugins: [entries, shorterNames, otherPackages],
  splitting: true,
  metafile: true,
  logLevel: 'warning',
});
if (startEntry !== undefined) await joinChunks(metafile.outputs, startEntry);
await takeOutWhiteSpace();
await pruneDeclarations(
  'dist',
  Object.values(exports).flatMap(({ types }) => types ?? []),
);

/**
 * White space is a fifth of what is installed, long names of local variables more. Those of functions and classes stay, and lines are short, so that a stack trace says what runs and where. The
 * marks of what has no side effects stay too (esbuild takes them out with the white space): bundlers leave out unused code by them.
 */
async function takeOutWhiteSpace() {
  const files = (await readdir('dist', { recursive: true })).filter((file) => file.endsWith('.js'));
  for (const path of files.map((file) => join('dist', file))) {
    const joined = mergeImports(await readFile(path, 'utf8'));
    const { code, map } = await minify(joined, {
      module: true,
      compress: false,
      // What a stack trace or a reader of an error sees keeps its name.
      mangle: { keep_fnames: true, keep_classnames: true, reserved: namesOfClasses(joined) },
      format: { comments: /@__\w+__|@vite-ignore|@license/, preserve_annotations: true, max_line_len: 120 },
      sourceMap: { content: await readFile(`${path}.map`, 'utf8'), url: `${basename(path)}.map` },
    });
    await writeFile(path, code);
    await writeFile(`${path}.map`, map);
  }
}

/** esbuild writes `var Name = class`: such a class has the name of the variable, which `keep_classnames` does not look at. */
function namesOfClasses(code) {
  return [...code.matchAll(/^\s*var (\w+) = class\b/gm)].map(([, name]) => name);
}

/** Makes one import of all that a file takes from another, where the first one stands. Lines stay where they are, for the source map. */
function mergeImports(code) {
  const statement = /^import \{([^}]*)\} from ("[^"]+");$/gm;
  const names = new Map();
  for (const [, list, from] of code.matchAll(statement)) names.set(from, [...(names.get(from) ?? []), list.replace(/\s+/g, ' ').trim()]);
  return code.replace(statement, (text, _, from) => {
    const lists = names.get(from);
    names.delete(from);
    return (lists === undefined ? '' : `import { ${lists.join(', ')} } from ${from};`) + text.replace(/[^\n]/g, '');
  });
}

/** Puts the chunks that an entry loads at once into the entry itself: each file costs a start about a millisecond. */
async function joinChunks(outputs, source) {
  const [file] = [...sourcesOf].find(([, sources]) => sources.includes(`./${source}`));
  const start = file.slice('./'.length);
  const chunks = new Set();
  const visit = (path) => {
    for (const { path: next, kind, external } of outputs[path].imports) {
      if (external || kind !== 'import-statement' || outputs[next].entryPoint !== undefined || chunks.has(next)) continue;
      chunks.add(next);
      visit(next);
    }
  };
  visit(start);
  const others = Object.keys(outputs).filter((path) => path.endsWith('.js') && path !== start && !chunks.has(path));
  const internals = await importFromStart(others, chunks, toSpecifier(start));
  const entryFiles = new Set([...sourcesOf.keys()].map((path) => path.slice('./'.length)));
  for (const path of others)
    if (outputs[path].entryPoint !== undefined && !entryFiles.has(path)) await reachStart(path, toSpecifier(start));
  await build({
    ...options,
    stdin: {
      contents: [`export * from '${toSpecifier(start)}';`, ...internals, 'export const internal_start = true;'].join('\n'),
      resolveDir: 'dist',
      sourcefile: 'joined.js',
    },
    entryNames: start.slice('dist/'.length, -'.js'.length),
    allowOverwrite: true,
    external: [...options.external, ...others.map((path) => `./${path}`)],
    plugins: [otherPackages],
    logLevel: 'error',
  });
  for (const chunk of chunks) for (const file of [chunk, `${chunk}.map`]) await rm(file);
}

/**
 * Lets files import from the start entry what they imported from chunks.
 *
 * @returns The exports that the start entry needs for it. They are called `internal_...`, for they are in no declaration.
 */
async function importFromStart(files, chunks, start) {
  const internals = new Map();
  for (const file of files) {
    const code = await readFile(file, 'utf8');
    const changed = code.replace(/^import (?:\{([^}]*)\} from )?"(\.\/[^"]+)";$/gm, (statement, names, specifier) => {
      if (!chunks.has(`dist/${specifier.slice(2)}`)) return statement;
      const renamed = names?.replace(/(\w+)( as \w+)?/g, (_, name, alias = ` as ${name}`) => {
        const internal = `internal_${name}`;
        const line = `export { ${name} as ${internal} } from '${specifier}';`;
        if ((internals.get(internal) ?? line) !== line) throw new Error(`Two chunks export "${name}": give one of them another name`);
        internals.set(internal, line);
        return `${internal}${alias}`;
      });
      // No module does anything by being loaded alone.
      return renamed === undefined ? '' : `import {${renamed}} from "${start}";`;
    });
    if (changed !== code) await writeFile(file, changed);
  }
  return [...internals.values()];
}

/**
 * Makes a module that loads on demand one that needs the start entry. Bundlers put into one file what the same modules need: where some on demand
 * needed the package's dependencies alone, a program's start was three files in place of one.
 */
async function reachStart(file, start) {
  await appendFile(file, `export { internal_start } from "${start}";\n`);
}

function toSpecifier(path) {
  return `./${path.slice('dist/'.length)}`;
}
