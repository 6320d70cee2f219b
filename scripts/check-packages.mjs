/** The gate `packages`: what is published, looked at from the outside, as the tarball that npm would serve. */

import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { packPackages } from './pack.mjs';

/** The packages are ES modules only: how CommonJS and Node 10 find their types is nobody's concern (attw's `esm-only` profile). */
const ignoredResolutions = new Set(['node10', 'node16-cjs']);

/** @returns {Promise<readonly string[]>} A line for each thing that publint or "are the types wrong" finds. */
export async function findFaultsOfPackages() {
  const folder = mkdtempSync(join(tmpdir(), 'mortise-pack-'));
  try {
    await packPackages(folder);
    const faults = [];
    for (const file of readdirSync(folder)) {
      const tarball = new Uint8Array(readFileSync(join(folder, file)));
      const found = [...(await askPublint(tarball)), ...(await askWhetherTypesAreWrong(tarball))];
      faults.push(...found.map((fault) => `${file}: ${fault}`));
    }
    return faults;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function askPublint(tarball) {
  const { messages, pkg } = await publint({ pack: { tarball: tarball.buffer }, strict: true });
  return messages.map((message) => formatMessage(message, pkg, { color: false }));
}

async function askWhetherTypesAreWrong(tarball) {
  const result = await checkPackage(createPackageFromTarballData(tarball));
  if (result.types === false) return ['has no types'];
  return result.problems
    .filter(({ resolutionKind, resolutionOption }) => !ignoredResolutions.has(resolutionKind) && resolutionOption !== 'node10')
    .map((problem) => `${problem.kind} ${problem.entrypoint ?? problem.fileName ?? ''} ${problem.moduleSpecifier ?? ''}`);
}
