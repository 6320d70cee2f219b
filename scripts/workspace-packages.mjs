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
  tasks: undefined,
  'auth-oauth': undefined,
  'auth-proxy': undefined,
  'transport-http': ['.', './server', './client'],
  'transport-ws-custom': ['./client'],
};

/**
 * The public names of every entry that runs without Node, such as `@mortise/protocol/edge`.
 *
 * @returns {readonly string[]}
 */
export function edgeSafeEntries() {
  return readdirSync(join(root, 'packages')).flatMap((folder) => {
    const manifestFile = join(root, 'packages', folder, 'package.json');
    if (!(folder in edgeSafe) || !existsSync(manifestFile)) return [];
    const { name, exports } = JSON.parse(readFileSync(manifestFile, 'utf8'));
    return Object.entries(exports)
      .filter(([subpath, target]) => typeof target === 'object' && subpath !== './node' && (edgeSafe[folder]?.includes(subpath) ?? true))
      .filter(([, target]) => existsSync(join(root, 'packages', folder, target['mortise-source'])))
      .map(([subpath]) => name + subpath.slice(1));
  });
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
