/** Builds the program that is killed, so that it starts fast, and reads what the file has noted. */

import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { findNode } from '../src/find-node.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** What the triggers and counters of the file found. */
export interface Audit {
  readonly tasks: readonly { readonly id: string; readonly status: string; readonly n: number; readonly result: string | null }[];
  readonly endings: readonly { readonly id: string; readonly count: number }[];
  readonly faults: readonly unknown[];
  readonly leases: readonly [{ readonly count: number; readonly owners: number }];
  readonly running: readonly [{ readonly most: number; readonly tasks: number }];
  readonly steps: readonly [{ readonly count: number }];
}

export interface CrashSite {
  readonly command: string;
  /** @param leaseMs How long a run counts as alive without a sign of life. @default 250 */
  args(stepMs: number, leaseMs?: number): readonly string[];
  audit(): Promise<Audit>;
  /** The lines that the servers wrote, in order. */
  log(): Promise<readonly string[]>;
  remove(): Promise<void>;
}

/** A fresh file and a program over it. */
export async function prepareCrashSite(): Promise<CrashSite> {
  const folder = await mkdtemp(path.join(tmpdir(), 'mortise-crash-'));
  // Below the repository, where the native driver is found.
  const program = path.join(root, '.cache', `${path.basename(folder)}.mjs`);
  await build({
    entryPoints: [fileURLToPath(new URL('programs/crashing-server.ts', import.meta.url))],
    outfile: program,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    conditions: ['mortise-source'],
    external: ['better-sqlite3'],
    absWorkingDir: root,
    logLevel: 'warning',
  });
  const file = path.join(folder, 'tasks.db');
  const command = await findNode();
  return {
    command,
    args: (stepMs, leaseMs = 250) => [program, file, 'serve', String(stepMs), String(leaseMs)],
    async audit() {
      const { stdout } = await promisify(execFile)(command, [program, file, 'audit'], { maxBuffer: 67_108_864 });
      return JSON.parse(stdout) as Audit;
    },
    log: async () => (await readFile(`${file}.log`, 'utf8')).trimEnd().split('\n'),
    async remove() {
      await rm(folder, { recursive: true, force: true });
      await rm(program, { force: true });
    },
  };
}

/** Random numbers between 0 and 1 that a seed decides. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
