/** Runs the programs of programs/ in processes that have a driver. */

import { execFile } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { bundleProgram } from '../../../scripts/test/bundle-program.ts';
import { findNode } from './find-node.ts';

const folder = fileURLToPath(new URL('..', import.meta.url));

/** Runs a scenario of a program. @returns What it printed. */
export type RunProgram = (scenario: string, ...args: readonly string[]) => Promise<unknown>;

/** Bundles a program to one file, below the package, where drivers are found. */
export async function prepareProgram(name: string): Promise<RunProgram> {
  const program = path.join(folder, `node_modules/.cache/${name}.mjs`);
  const source = fileURLToPath(new URL(`programs/${name}.ts`, import.meta.url));
  await bundleProgram({ entryPoints: [source], outfile: program, external: ['better-sqlite3'] });
  return async (scenario, ...args) => {
    const env = { ...process.env, NODE_NO_WARNINGS: '1' };
    const { stdout } = await promisify(execFile)(await findNode(), [program, scenario, ...args], { cwd: folder, env });
    return JSON.parse(stdout);
  };
}
