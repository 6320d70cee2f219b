/** The gates `publint`, `attw` and `links`: what is published, looked at from the outside, as the tarball that npm would serve. */

import { createPackageFromTarballData, checkPackage } from '@arethetypeswrong/core';
import { readFileSync } from 'node:fs';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { findBrokenLinks } from './find-broken-links.mjs';
import { packPackages } from './pack-packages.mjs';

/** The packages are ES modules only: how CommonJS and Node 10 find their types is nobody's concern (attw's `esm-only` profile). */
const ignoredResolutions = new Set(['node10', 'node16-cjs']);
const requiredFiles = ['LICENSE', 'README.md', 'package.json'];

/** Runs publint over every tarball and looks for the files that each package must ship. */
export async function lintPackages() {
  const found = [];
  const packages = await packPackages();
  for (const { name, tarball } of packages) {
    const bytes = readFileSync(tarball);
    const { messages, pkg } = await publint({
      pack: { tarball: bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) },
      strict: true,
    });
    found.push(...messages.map((message) => `${name}: ${formatMessage(message, pkg, { color: false })}`));
    const { files } = readTarball({ name, tarball });
    found.push(...requiredFiles.filter((file) => !files.has(file)).map((file) => `${name}: the tarball has no ${file}`));
  }
  return { ok: found.length === 0, output: found.join('\n'), note: `${packages.length} tarballs` };
}

/** Asks "are the types wrong" about every tarball. */
export async function checkTypesOfPackages() {
  const found = [];
  const packages = await packPackages();
  let entries = 0;
  for (const { name, tarball } of packages) {
    const result = await checkPackage(createPackageFromTarballData(new Uint8Array(readFileSync(tarball))));
    if (result.types === false) {
      found.push(`${name}: has no types`);
      continue;
    }
    entries += Object.keys(result.entrypoints).length;
    const problems = result.problems.filter(
      (problem) => !ignoredResolutions.has(problem.resolutionKind) && problem.resolutionOption !== 'node10',
    );
    found.push(
      ...problems.map(
        (problem) =>
          `${name}: ${problem.kind} ${problem.entrypoint ?? problem.fileName ?? problem.typesFileName ?? ''} ${problem.moduleSpecifier ?? ''}`,
      ),
    );
  }
  return { ok: found.length === 0, output: found.join('\n'), note: `${entries} entry points of ${packages.length} tarballs` };
}

/** Follows every export and every import of the tarballs. */
export async function followLinksOfPackages() {
  const tarballs = (await packPackages()).map(readTarball);
  const found = findBrokenLinks(tarballs);
  const files = tarballs.reduce((sum, each) => sum + each.files.size, 0);
  return { ok: found.length === 0, output: found.join('\n'), note: `${files} files of ${tarballs.length} tarballs` };
}

/**
 * @param {{ name: string, tarball: string }} packed
 * @returns {import('./find-broken-links.mjs').Tarball}
 */
export function readTarball({ name, tarball }) {
  const contents = createPackageFromTarballData(new Uint8Array(readFileSync(tarball)));
  const prefix = `/node_modules/${name}/`;
  const files = new Map(contents.listFiles().map((file) => [file.replace(prefix, ''), () => contents.readFile(file)]));
  return { name, manifest: JSON.parse(contents.readFile(`${prefix}package.json`)), files };
}
