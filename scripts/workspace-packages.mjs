/** What the workspace's packages offer, and an esbuild plugin that finds them from anywhere in the repository. */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './run-command.mjs';

/** Packages whose entries use no Node, but for those behind `/node` (DESIGN section 2); a list names the only ones that qualify. */
const edgeSafe = {
  'jsonrpc-core': undefined,
  protocol: undefined,
  server: undefined,
  client: undefined,
  tasks: ['.', './client', './server', './pg-boss'],
  'auth-oauth': undefined,
  'auth-proxy': undefined,
  'transport-http': ['.', './server', './client'],
  'transport-ws-custom': ['./client'],
};

/** @returns {readonly { folder: string, name: string, exports: Record<string, string | Record<string, string>> }[]} Of every package. */
export function packageManifests() {
  const folders = readdirSync(join(root, 'packages')).filter((folder) => existsSync(join(root, 'packages', folder, 'package.json')));
  return folders.map((folder) => {
    const { name, exports } = JSON.parse(readFileSync(join(root, 'packages', folder, 'package.json'), 'utf8'));
    return { folder, name, exports };
  });
}

/**
 * @returns {readonly { folder: string, subpath: string, name: string, source: string }[]} Every entry of every package. `name` is what
 *   programs import, `source` its file below the root; the two have a `*` where compat-v1 has a pattern.
 */
export function packageEntries() {
  return packageManifests().flatMap(({ folder, name, exports }) =>
    Object.entries(exports)
      .filter(([, target]) => typeof target === 'object')
      .map(([subpath, { 'mortise-source': source }]) => ({
        folder,
        subpath,
        name: name + subpath.slice(1),
        source: `packages/${folder}/${source.slice(2)}`,
      })),
  );
}

/** @returns {readonly string[]} The public names of every entry that runs without Node, such as `@mortise/protocol/edge`. */
export function edgeSafeEntries() {
  return packageEntries()
    .filter(({ folder, subpath }) => folder in edgeSafe && subpath !== './node' && (edgeSafe[folder]?.includes(subpath) ?? true))
    .map(({ name }) => name);
}

/** Resolves `@mortise/x` from the package's own folder: the root depends on no package of its own. */
export function workspacePackages() {
  return {
    name: 'workspace-packages',
    setup(plugin) {
      plugin.onResolve({ filter: /^@mortise\/[^/]+/ }, (args) => {
        if (args.pluginData === 'found') return undefined;
        const folder = args.path.split('/')[1];
        return plugin.resolve(args.path, { kind: args.kind, resolveDir: join(root, 'packages', folder), pluginData: 'found' });
      });
    },
  };
}
