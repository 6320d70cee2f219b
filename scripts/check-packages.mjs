/** The gates `publint` and `attw`: what is published, looked at from the outside, as the tarball that npm would serve. */

import { createPackageFromTarballData, checkPackage } from '@arethetypeswrong/core';
import { readFileSync } from 'node:fs';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
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
    const files = new Set(
      createPackageFromTarballData(new Uint8Array(bytes))
        .listFiles()
        .map((file) => file.replace(`/node_modules/${name}/`, '')),
    );
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
