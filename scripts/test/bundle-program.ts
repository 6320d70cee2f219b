/** Programs that tests run as processes of their own: bundled from source, so that they start fast and nothing must be built. */

import { build, type BuildOptions } from 'esbuild';

/** Bundles files, or a text, into programs for Node 20. */
export async function bundleProgram(
  what: Pick<BuildOptions, 'entryPoints' | 'stdin' | 'outdir' | 'outExtension' | 'outfile' | 'external'>,
): Promise<void> {
  await build({
    ...what,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    conditions: ['mortise-source'],
    logLevel: 'warning',
    // What is CommonJS among the dependencies asks for built-in modules by require.
    banner: { js: "import { createRequire as toRequire } from 'node:module'; const require = toRequire(import.meta.url);" },
  });
}
