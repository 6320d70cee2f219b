/** The version ranges that are written into `package.json`: those that this package's own manifest names for its development. */

import { readFileSync } from 'node:fs';

type Manifest = { readonly version: string; readonly devDependencies?: Readonly<Record<string, string>> };

const own = readManifest('../package.json');

/** The ranges of packages of others that compat needs as peers. */
const PEERS: Readonly<Record<string, string>> = { cors: '^2.8.5', express: '^5.0.0', 'express-rate-limit': '^8.0.0' };

/** The range for a package that the rewritten program needs. */
export function rangeOf(name: string): string {
  const range = PEERS[name] ?? own.devDependencies?.[name] ?? 'latest';
  // In the repository itself packages name one another by folder; what is published names versions.
  return range.startsWith('workspace:') ? `^${readManifest(`../../${name.replace('@mortise/', '')}/package.json`).version}` : range;
}

function readManifest(path: string): Manifest {
  return JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8')) as Manifest;
}
