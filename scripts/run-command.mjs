/** The one way in which scripts and their tests start other programs. */

import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** The repository's root folder, with a slash at its end. */
export const root = fileURLToPath(new URL('../', import.meta.url));

/**
 * Runs one program to its end. Never rejects.
 *
 * @param {string} command
 * @param {readonly string[]} args
 * @param {{ cwd?: string, env?: Record<string, string | undefined>, show?: boolean, timeoutMs?: number }} [options]
 *   `show` gives the program this process's terminal, and then nothing of what it prints is returned.
 * @returns {Promise<{ code: number, stdout: string, stderr: string, output: string, seconds: number }>} `output` is stdout and stderr in
 *   the order of arrival.
 */
export function runCommand(command, args, { cwd = root, env, show = false, timeoutMs } = {}) {
  const started = performance.now();
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: show ? 'inherit' : ['ignore', 'pipe', 'pipe'],
      timeout: timeoutMs,
      // npx is a batch file on Windows, and batch files need a shell; every argument here is ours.
      shell: process.platform === 'win32',
    });
    const printed = { stdout: '', stderr: '', output: '' };
    for (const name of show ? [] : ['stdout', 'stderr'])
      child[name].setEncoding('utf8').on('data', (text) => {
        printed[name] += text;
        printed.output += text;
      });
    const finish = (code, note = '') =>
      resolve({ ...printed, output: printed.output + note, code, seconds: (performance.now() - started) / 1000 });
    child.on('error', (error) => finish(127, `${command}: ${error.message}\n`));
    child.on('close', (code, signal) => finish(code ?? 1, signal === null ? '' : `${command} was ended by ${signal}\n`));
  });
}

/**
 * Runs a program under this very Node.
 *
 * @param {readonly string[]} args The program's file, below the root unless `options.cwd` says otherwise, and its arguments.
 * @param {Parameters<typeof runCommand>[2]} [options]
 */
export const runNode = (args, options) => runCommand(process.execPath, args, options);

/** Every program that runs beside this one, so that none outlives it. */
const running = new Set();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/**
 * Starts a program under this very Node that runs beside this one, with its standard input and output as pipes.
 *
 * @param {readonly string[]} args
 * @param {'inherit' | 'pipe'} [stderr]
 * @returns {import('node:child_process').ChildProcessWithoutNullStreams}
 */
export function startNode(args, stderr = 'inherit') {
  const child = spawn(process.execPath, args, { cwd: root, stdio: ['pipe', 'pipe', stderr] });
  running.add(child);
  child.once('exit', () => running.delete(child));
  // A program that ends early breaks the pipe.
  child.stdin.on('error', () => undefined);
  return child;
}
