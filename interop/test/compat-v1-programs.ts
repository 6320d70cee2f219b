/** The shipped examples of SDK v1, twice: as they are, and rewritten by the codemod onto compat. Runs them and reads what they print. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { migrate, type Left } from '@mortise/codemod';

const interop = fileURLToPath(new URL('..', import.meta.url));
const shipped = join(interop, 'node_modules/@modelcontextprotocol/sdk/dist/esm/examples');
const anyPort = new URL('../fixtures/any-port.mjs', import.meta.url).href;
const toPort = new URL('../fixtures/to-port.mjs', import.meta.url).href;

/** Whose library a program uses. */
export type Side = 'official' | 'compat';

/** A program that serves, and the ports that it listens on, in their order. */
export interface ServingProgram {
  readonly ports: readonly number[];
  stop(): Promise<void>;
}

export interface RunOptions {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Whether the program listens on the ports of its environment. @default false: on any free one */
  readonly ownPorts?: readonly number[];
}

/** The two copies of the examples, in a folder below this package, so that they find what they import. */
export class ExamplePrograms {
  readonly #folder: string;
  /** What the codemod left in the examples. */
  readonly left: readonly Left[];
  readonly #running = new Set<ChildProcess>();

  private constructor(folder: string, left: readonly Left[]) {
    this.#folder = folder;
    this.left = left;
  }

  static async prepare(): Promise<ExamplePrograms> {
    const folder = await mkdtemp(join(interop, '.compat-http-'));
    for (const side of ['official', 'compat']) await copyExamples(join(folder, side));
    const { left } = await migrate(join(folder, 'compat'), { from: 'v1' });
    return new ExamplePrograms(folder, left);
  }

  /** Starts a server, and waits until it listens. */
  async serve(side: Side, file: string, { args = [], env = {}, ownPorts }: RunOptions = {}): Promise<ServingProgram> {
    const flags = ownPorts === undefined ? ['--import', anyPort] : [];
    const child = spawn(process.execPath, [...flags, this.#path(side, 'server', file), ...args], {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
    });
    this.#running.add(child);
    const stop = async (): Promise<void> => {
      const exited = once(child, 'exit');
      if (child.kill('SIGKILL')) await exited;
      this.#running.delete(child);
    };
    if (ownPorts !== undefined) {
      await Promise.all(ownPorts.map((port) => untilOpen(port)));
      return { ports: ownPorts, stop };
    }
    const lines = createInterface({ input: child.stdio[3] as NodeJS.ReadableStream });
    const [port] = (await Promise.race([once(lines, 'line'), once(child, 'exit')])) as [string];
    if (child.exitCode !== null) throw new Error(`${side} ${file} ended before it listened`);
    return { ports: [Number(port)], stop };
  }

  /**
   * Runs a client to its end.
   *
   * @param typed The lines that a person types, each when the program asks.
   * @param done What the program prints when it has done what the line before asked for. A person then also opens the page at which the
   *   program asks to sign in.
   * @returns What it prints.
   */
  async run(
    side: Side,
    file: string,
    port: number,
    { args = [], typed = [], done, env = {} }: Omit<RunOptions, 'ownPorts'> & { typed?: readonly string[]; done?: RegExp | undefined } = {},
  ): Promise<string> {
    const child = spawn(process.execPath, ['--import', anyPort, '--import', toPort, this.#path(side, 'client', file), ...args], {
      env: { ...process.env, TO_PORT: String(port), ...env },
      stdio: ['pipe', 'pipe', 'ignore', 'pipe'],
    });
    this.#running.add(child);
    const ports = createInterface({ input: child.stdio[3] as NodeJS.ReadableStream });
    const lines = [...typed];
    let fresh = '';
    child.stdout?.setEncoding('utf8').on('data', (printed: string) => {
      fresh += printed;
      const page = /to authorize:\s+(\S+)/.exec(printed)?.[1];
      if (page !== undefined) ports.once('line', (callbackPort) => void signIn(page, callbackPort));
      // A notification, too, ends with a prompt.
      if (!/[?:>] *$/.test(fresh) || (done && !done.test(fresh))) return;
      const line = lines.shift();
      if (line === undefined) return;
      fresh = '';
      child.stdin?.write(`${line}\n`);
    });
    const [printed] = await Promise.all([text(child.stdout as NodeJS.ReadableStream), once(child, 'exit')]);
    this.#running.delete(child);
    return printed;
  }

  async close(): Promise<void> {
    for (const child of this.#running) child.kill('SIGKILL');
    await rm(this.#folder, { recursive: true, force: true });
  }

  #path(side: Side, kind: 'server' | 'client', file: string): string {
    return join(this.#folder, side, kind, `${file}.js`);
  }
}

/** Opens the page of an authorization server that asks nothing, and follows it back to the program, on the port that it has. */
async function signIn(page: string, callbackPort: string): Promise<void> {
  const response = await fetch(page, { redirect: 'manual' });
  const back = new URL(response.headers.get('location') ?? '', page);
  await fetch(`http://127.0.0.1:${callbackPort}${back.pathname}${back.search}`);
}

/** Copies the examples. Inside the package they import by relative paths; a program imports from the package. */
async function copyExamples(to: string): Promise<void> {
  for (const kind of ['server', 'client', 'shared']) {
    for (const file of (await readdir(join(shipped, kind))).filter((name) => name.endsWith('.js'))) {
      const code = await readFile(join(shipped, kind, file), 'utf8');
      await mkdir(dirname(join(to, kind, file)), { recursive: true });
      const outside = code.replaceAll(/from '\.\.\/\.\.\/([^']+)'/g, "from '@modelcontextprotocol/sdk/$1'");
      // The resource that a client signs in for is the URL of its server, so that this must be the true one.
      await writeFile(
        join(to, kind, file),
        outside.replace(/(?<=let serverUrl = )'[^']+'/, "process.env.MCP_URL ?? 'http://localhost:3000/mcp'"),
      );
    }
  }
  await writeFile(join(to, 'package.json'), '{ "type": "module", "dependencies": { "@modelcontextprotocol/sdk": "^1.32.0" } }');
}

/** Ports that are free now. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const ports = servers.map((server) => (server.address() as { port: number }).port);
  await Promise.all(servers.map((server) => once(server.close(), 'close')));
  return ports;
}

/** Waits until a program listens on a port, by asking. */
async function untilOpen(port: number): Promise<void> {
  for (;;) {
    try {
      await fetch(`http://localhost:${port}/`);
      return;
    } catch {
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}
