/** Runs the suites against the fixtures and reads what they wrote down. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { createInterface } from 'node:readline';
import { root } from '../run-command.mjs';
import { runSuite } from './suites.mjs';
import { openTurns } from './turns.mjs';

const outputFolder = join(root, '.cache/conformance');
const serverFile = join(root, 'apps/conformance/dist/server.js');
const clientFile = 'apps/conformance/dist/client.js';
const turnFile = 'scripts/conformance/take-turn.mjs';
/** How long a suite waits for a client, also one that thirty others come before, in milliseconds: only what stops one that hangs. */
const CLIENT_TIMEOUT_MS = 900_000;

/**
 * What one scenario came to in one run.
 *
 * @typedef {object} Outcome
 * @property {import('./plan.mjs').Run} run
 * @property {string} scenario
 * @property {number} passed How many checks.
 * @property {readonly { id: string, status: 'FAILURE' | 'WARNING', message: string }[]} faults
 */

/**
 * @param {string} node
 * @param {readonly import('./plan.mjs').Run[]} runs
 * @returns {Promise<Outcome[]>}
 */
export async function runSuites(node, runs) {
  rmSync(outputFolder, { recursive: true, force: true });
  const server = await startServer();
  try {
    const outcomes = [];
    for (const [index, run] of runs.entries()) {
      process.stdout.write(
        `${run.suite} ${run.role} ${run.column}: ${run.scenarios.length === 1 ? run.scenarios[0] : `${run.scenarios.length} scenarios`}\n`,
      );
      const folder = join(outputFolder, String(index).padStart(3, '0'));
      const play = (target) => runSuite(node, run.suite, [run.role, ...target, ...run.args, '--output-dir', folder]);
      const { code, output } = await (run.role === 'server' ? play(['--url', server.url]) : playClients(run, play));
      if (existsSync(folder)) writeFileSync(join(folder, 'printed.txt'), output);
      outcomes.push(...readOutcomes(run, folder, code, output));
    }
    return outcomes;
  } finally {
    await server.stop();
  }
}

async function playClients(run, play) {
  const playAs = (command) => play(['--command', command, '--timeout', String(CLIENT_TIMEOUT_MS)]);
  if (run.scenarios.length === 1) return playAs(`${process.execPath} ${clientFile}`);
  const turns = await openTurns(run.scenarios.length);
  try {
    return await playAs(`${process.execPath} ${turnFile} ${turns.port} ${clientFile}`);
  } finally {
    await turns.close();
  }
}

async function startServer() {
  const child = spawn(process.execPath, [serverFile, '--port', '0'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const lines = createInterface({ input: child.stdout });
  const first = await Promise.race([once(lines, 'line'), exited.then(() => undefined)]);
  if (first === undefined) throw new Error('the everything server ended before it listened');
  const stop = async () => {
    child.kill();
    await exited;
  };
  return { url: String(first[0]), stop };
}

function readOutcomes(run, folder, code, output) {
  const reported = new Map(existsSync(folder) ? readReports(folder, run.role) : []);
  return run.scenarios.map((scenario) => {
    const checks = reported.get(scenario);
    if (checks === undefined)
      return { run, scenario, passed: 0, faults: [{ id: 'did-not-run', status: 'FAILURE', message: lastLines(output) }] };
    const faults = checks
      .filter(({ status }) => status === 'FAILURE' || status === 'WARNING')
      .map(({ id, status, errorMessage, description }) => ({ id, status, message: errorMessage ?? description ?? '' }));
    // The exit code of a scenario alone says how the client ended, beside what the checks say already.
    if (
      run.kind === 'alone' &&
      code !== 0 &&
      (faults.length === 0 || output.includes('CLIENT EXITED WITH ERROR') || output.includes('TIMED OUT'))
    )
      faults.push({ id: 'exit', status: 'FAILURE', message: `exit code ${code}` });
    return { run, scenario, passed: checks.filter(({ status }) => status === 'SUCCESS').length, faults };
  });
}

/** Each scenario has a folder of its name and the time, in which `checks.json` lies. A server's names begin with `server-` once more. */
function readReports(folder, role) {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('checks.json'));
  return files.map((file) => {
    const stamped = file.split(sep).slice(0, -1).join('/');
    const name = stamped.replace(/-\d{4}-\d\d-\d\dT[\d-]+Z$/, '');
    const checks = JSON.parse(readFileSync(join(folder, file), 'utf8'));
    return [role === 'server' ? name.replace(/^server-/, '') : name, checks];
  });
}

const lastLines = (output) => output.trim().split('\n').slice(-3).join(' | ');
