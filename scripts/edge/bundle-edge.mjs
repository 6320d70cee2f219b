/** One script that holds every edge-safe entry and the round trip, from the packages' sources, for runtimes that are not Node. */

import { build } from 'esbuild';
import { join } from 'node:path';
import { root } from '../run-command.mjs';
import { edgeSafeEntries, workspacePackages } from '../workspace-packages.mjs';

/**
 * A Node built-in anywhere in the bundle is an error here, before any runtime sees it.
 *
 * @param {string} program Code to put below, which may use `entries` (entry -> the names that it exports) and `roundTrip`.
 * @returns {Promise<string>}
 */
export async function bundleEdge(program) {
  const entries = edgeSafeEntries();
  const code = [
    ...entries.map((entry, index) => `import * as entry${index} from '${entry}';`),
    `import { roundTrip } from './scripts/edge/round-trip.mjs';`,
    `const entries = {${entries.map((entry, index) => `'${entry}': Object.keys(entry${index})`).join(', ')}};`,
    program,
  ].join('\n');
  const result = await build({
    stdin: { contents: code, resolveDir: root, sourcefile: 'edge.js' },
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    conditions: ['mortise-source'],
    absWorkingDir: join(root),
    logLevel: 'silent',
    plugins: [workspacePackages()],
  });
  return result.outputFiles[0].text;
}
