/** Runs one program and gives back how it ended and what it printed. */

import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** The repository's root folder, with a slash at its end. */
export const root = fileURLToPath(new URL('../', import.meta.url));

/**
 * @param {string} command
 * @param {readonly string[]} args
 * @param {{ cwd?: string, env?: Record<string, string | undefined>, show?: boolean, input?: string }} [options]
 *   `show` passes the output through as it comes, and keeps it as well.
 * @returns {Promise<{ code: number, output: string, seconds: number }>} `output` is stdout and stderr in the order of arrival.
 */
export function runCommand(command, args, options = {}) {
  const started = performance.now();
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd: options.cwd ?? root,
      env: { ...process.env, ...options.env },
      stdio: ['ignore', 'pipe', 'pipe'],
      // npx is a batch file on Windows, and batch files need a shell; every argument here is ours.
      shell: process.platform === 'win32',
    });
    /** @type {Buffer[]} */
    const chunks = [];
    const take = (target) => (chunk) => {
      chunks.push(chunk);
      if (options.show) target.write(chunk);
    };
    child.stdout.on('data', take(process.stdout));
    child.stderr.on('data', take(process.stderr));
    const finish = (code, note = '') =>
      resolve({ code, output: Buffer.concat(chunks).toString('utf8') + note, seconds: (performance.now() - started) / 1000 });
    child.on('error', (error) => finish(127, `${command}: ${error.message}\n`));
    child.on('close', (code, signal) => finish(code ?? 1, signal === null ? '' : `${command} was ended by ${signal}\n`));
  });
}

/**
 * Runs a program of `node_modules/.bin` under this very Node.
 *
 * @param {string} file The program's file below the root, such as `node_modules/vitest/vitest.mjs`.
 * @param {readonly string[]} args
 * @param {Parameters<typeof runCommand>[2]} [options]
 */
export const runNode = (file, args, options) => runCommand(process.execPath, [root + file, ...args], options);
