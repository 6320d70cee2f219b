/**
 * What a packed package names and does not bring: an export whose file is not in the tarball, a relative import that leads nowhere,
 * a package that it imports and does not depend on, an entry of a sibling that the sibling does not have.
 */

import { isBuiltin } from 'node:module';
import { posix } from 'node:path';

/**
 * @typedef {{ name: string, manifest: Record<string, unknown>, files: ReadonlyMap<string, () => string> }} Tarball
 *   `files` are the paths below the package's root, each with how to read it.
 */

/** The specifiers of `import`, `export ... from`, `import()` and of types by `import('...')`, in code and in declarations. */
const specifierPatterns = [/\bfrom\s*(['"])([^'"\n]+)\1/g, /\bimport\s*(['"])([^'"\n]+)\1/g, /\bimport\s*\(\s*(['"])([^'"\n]+)\1/g];
/** Examples in doc comments import what they please. */
const commentLine = /^\s*(?:\/\/|\/?\*).*$/gm;

/**
 * @param {readonly Tarball[]} tarballs All packages that are published together.
 * @returns {readonly string[]} A sentence for each link that is broken.
 */
export function findBrokenLinks(tarballs) {
  const siblings = new Map(tarballs.map((tarball) => [tarball.name, tarball]));
  return tarballs.flatMap((tarball) => [
    ...targetsOf(tarball.manifest)
      .filter(({ target }) => !tarball.files.has(posix.normalize(target)))
      .map(({ path, target }) => `${tarball.name}: ${path} names ${target}, which the tarball has not`),
    ...[...tarball.files.keys()].filter((file) => /\.(?:js|d\.ts)$/.test(file)).flatMap((file) => brokenImports(tarball, file, siblings)),
  ]);
}

/** The files that package.json names, each with where. */
function targetsOf({ exports, main, types, bin }) {
  const found = [];
  const walk = (value, path) => {
    if (typeof value === 'string') found.push({ path, target: value });
    else if (value !== null && typeof value === 'object')
      for (const [key, inner] of Object.entries(value)) walk(inner, `${path}["${key}"]`);
  };
  for (const [path, value] of Object.entries({ exports, main, types, bin })) walk(value, path);
  return found;
}

function brokenImports(tarball, file, siblings) {
  const text = (tarball.files.get(file)?.() ?? '').replace(commentLine, '');
  const specifiers = new Set(specifierPatterns.flatMap((pattern) => [...text.matchAll(pattern)].map((match) => match[2])));
  return [...specifiers].flatMap((specifier) => {
    const why = specifier.startsWith('.') ? missingFile(tarball, file, specifier) : missingPackage(tarball, file, specifier, siblings);
    return why === undefined ? [] : [`${tarball.name}: ${file} imports "${specifier}", ${why}`];
  });
}

function missingFile({ files }, file, specifier) {
  const target = posix.join(posix.dirname(file), specifier);
  // A declaration names code or its source (tsc leaves `./x.ts` as it is); either way the declaration beside it answers.
  const found = file.endsWith('.d.ts') ? files.has(target.replace(/\.[jt]s$/, '.d.ts')) : files.has(target);
  return found ? undefined : 'which the tarball has not';
}

function missingPackage({ name, manifest }, file, specifier, siblings) {
  if (isBuiltin(specifier)) return undefined;
  const imported = /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier;
  const typesOf = `@types/${imported.replace(/^@(.+)\/(.+)$/, '$1__$2')}`;
  const listed = { ...manifest.dependencies, ...manifest.peerDependencies, ...manifest.optionalDependencies, [name]: '' };
  if (!(imported in listed) && !(file.endsWith('.d.ts') && typesOf in listed)) return 'a package that it does not depend on';
  const exported = siblings.get(imported)?.manifest.exports;
  if (exported === undefined) return undefined;
  return `.${specifier.slice(imported.length)}` in exported ? undefined : 'an entry which that package has not';
}
