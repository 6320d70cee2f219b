/** A client's side of stdio: real processes, started, spoken to, and ended. */

import { chmod, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Clock, JsonRpcMessage } from '@mortise/jsonrpc-core';
import { systemClock } from '@mortise/jsonrpc-core/transport';
import {
  ServerProcessExitedError,
  ServerStartError,
  StdioClientTransport,
  type StdioClientTransportOptions,
  stdioTransport,
} from '@mortise/transport-stdio/client';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { LAST_WORDS_MS } from '../src/child-process.ts';
import { CountingClock } from './counting-clock.ts';
import { makeFolder, removeFolders } from './fixture.ts';

const ask: JsonRpcMessage = { jsonrpc: '2.0', id: 1, method: 'ask' };

/** Sends back whatever it is sent. */
const ECHO = 'process.stdin.pipe(process.stdout)';
const SAY = (text: string): string =>
  `process.stdout.write(JSON.stringify({ jsonrpc: '2.0', method: 'say', params: { value: ${text} } }) + '\\n');`;

/** Starts a process that holds what it is given for as long as it is let, and says its id. */
const HOLDING = (stdio: string): string =>
  `const child = require('child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: ${stdio} }); ${SAY('child.pid')}`;

/** A server with a child of its own, which shares its outputs, says when it runs, and sees an end of input when the server has ended. */
function motherOf(child: string): string {
  const script = JSON.stringify(`${SAY('1')} ${child}`);
  const start = `require('child_process').spawn(process.execPath, ['-e', ${script}], { stdio: ['pipe', 'inherit', 'inherit'] })`;
  return `${start}; process.stdin.on('data', () => process.exit(1)).on('end', () => process.exit())`;
}

interface Run {
  readonly transport: StdioClientTransport;
  readonly messages: JsonRpcMessage[];
  readonly errors: Error[];
  readonly closed: Promise<void>;
  /** Resolves with the next message. */
  next(): Promise<JsonRpcMessage>;
}

const running: StdioClientTransport[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((transport) => transport.close()));
});
afterAll(removeFolders);

/** A transport to a program that is given as text. */
function prepare(script: string, options: Partial<StdioClientTransportOptions> = {}): Run {
  const transport = new StdioClientTransport({ command: process.execPath, args: ['-e', script], ...options });
  running.push(transport);
  const [messages, errors, waiters] = [[] as JsonRpcMessage[], [] as Error[], [] as ((message: JsonRpcMessage) => void)[]];
  transport.onmessage = (message: JsonRpcMessage) => {
    messages.push(message);
    waiters.shift()?.(message);
  };
  transport.onerror = (error) => void errors.push(error);
  const closed = new Promise<void>((resolve) => {
    transport.onclose = resolve;
  });
  return { transport, messages, errors, closed, next: () => new Promise((resolve) => waiters.push(resolve)) };
}

async function run(script: string, options?: Partial<StdioClientTransportOptions>): Promise<Run> {
  const prepared = prepare(script, options);
  await prepared.transport.start();
  return prepared;
}

/** How many pipes keep this process alive. */
function countPipes(): number {
  return process.getActiveResourcesInfo().filter((kind) => kind === 'PipeWrap').length;
}

function valueOf(message: JsonRpcMessage): unknown {
  return 'params' in message ? message.params?.['value'] : undefined;
}

/** Tells whether a process is there; one that has ended and was collected is not. */
function exists(pid: number | undefined): boolean {
  try {
    return process.kill(pid ?? 0, 0);
  } catch {
    return false;
  }
}

describe('starting', () => {
  it('[TRAN-001] runs the command and speaks to it', async () => {
    const { transport, next } = await run(ECHO);
    const received = next();
    await transport.send(ask);
    expect(await received).toEqual(ask);
  });

  it('tells the process id while it runs, and not afterwards', async () => {
    const { transport } = prepare(ECHO);
    expect(transport.pid).toBeUndefined();
    await transport.start();
    const { pid } = transport;
    expect(exists(pid)).toBe(true);
    await transport.close();
    expect(transport.pid).toBeUndefined();
    expect(exists(pid)).toBe(false);
  });

  it('[ROBUSTNESS-13][ROBUSTNESS-11] hands arguments to no shell', async () => {
    const folder = makeFolder();
    const args = [
      '-e',
      SAY('process.argv.slice(1)') + ECHO,
      '--',
      '; touch injected',
      '$(touch injected)',
      '`touch injected`',
      '| tee',
      '&& exit',
      '%PATH%',
      '"',
      ' ',
    ];
    const transport = new StdioClientTransport({ command: process.execPath, args, cwd: folder });
    running.push(transport);
    const received = new Promise<JsonRpcMessage>((resolve) => {
      transport.onmessage = resolve;
    });
    await transport.start();
    expect(valueOf(await received)).toEqual(args.slice(3));
    await expect(readFile(path.join(folder, 'injected'))).rejects.toThrow('ENOENT');
  });

  it('runs in the folder that it is given', async () => {
    const folder = makeFolder();
    const { next } = await run(SAY('require("fs").realpathSync(".")') + ECHO, { cwd: folder });
    expect(valueOf(await next())).toBe(folder);
  });

  it.for([
    [
      'a command that is not in PATH',
      { command: 'no-such-program-7f3a' },
      'ENOENT',
      /server "no-such-program-7f3a" could not be started: it was not found in PATH\. Install it/,
    ],
    ['a file that does not exist', { command: './no/such/file' }, 'ENOENT', /there is no such file\. Correct the path/],
    [
      'a command with its arguments in one',
      { command: 'node server.js' },
      'ENOENT',
      /Put only the program into "command" and its arguments into "args"/,
    ],
    [
      'a command with its arguments, one of them a path, in one',
      { command: 'node ./server.js' },
      'ENOENT',
      /Put only the program into "command" and its arguments into "args"/,
    ],
    [
      'a folder that does not exist',
      { command: process.execPath, cwd: '/no/such/folder' },
      'ENOENT',
      /the folder "\/no\/such\/folder" does not exist\. Correct "cwd"/,
    ],
    ['a command with a NUL', { command: 'a\0b' }, 'ERR_INVALID_ARG_VALUE', /server "a\0b" could not be started/],
  ] as const)('rejects %s, naming it and the remedy', async ([, options, errno, message]) => {
    const { transport, closed } = prepare('', { args: [], ...options });
    const rejection: unknown = await transport.start().catch((error: unknown) => error);
    expect(rejection).toBeInstanceOf(ServerStartError);
    expect(rejection).toMatchObject({ code: 'ERR_SERVER_START', errno, command: options.command });
    expect((rejection as Error).message).toMatch(message);
    await closed;
  });

  it('rejects a file that is not executable, naming the remedy', async () => {
    const file = path.join(makeFolder(), 'server.js');
    await writeFile(file, '#!/usr/bin/env node\n');
    await chmod(file, 0o644);
    const { transport } = prepare('', { command: file });
    await expect(transport.start()).rejects.toThrow(/is not executable\. Make it executable/);
  });
});

describe('the environment of the server', () => {
  const tellEnvironment = SAY('process.env') + ECHO;

  it('holds what programs need and nothing that may be secret', async () => {
    process.env['MORTISE_TEST_SECRET'] = 'secret';
    const { next } = await run(tellEnvironment);
    const environment = valueOf(await next()) as Record<string, string>;
    delete process.env['MORTISE_TEST_SECRET'];
    expect(environment['PATH']).toBe(process.env['PATH']);
    expect(environment).not.toHaveProperty('MORTISE_TEST_SECRET');
    const allowed = ['HOME', 'LANG', 'LC_ALL', 'LC_CTYPE', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'TMPDIR', 'TZ', 'USER'];
    expect(Object.keys(environment).filter((name) => !allowed.includes(name))).toEqual([]);
  });

  it('[STDIO-017] holds the credentials that it is given, beside the rest, without what is left out', async () => {
    const { next } = await run(tellEnvironment, { env: { API_KEY: 'a b"c', HOME: undefined } });
    const environment = valueOf(await next()) as Record<string, string>;
    expect(environment).toMatchObject({ API_KEY: 'a b"c', PATH: process.env['PATH'] });
    expect(environment).not.toHaveProperty('HOME');
  });
});

describe('what is written to the server', () => {
  it('[STDIO-003][STDIO-001] is messages alone, one a line', async () => {
    const file = path.join(makeFolder(), 'stdin');
    const { transport } = await run(`process.stdin.pipe(require('fs').createWriteStream(${JSON.stringify(file)}))`);
    const messages: JsonRpcMessage[] = [ask, { jsonrpc: '2.0', method: 'note', params: { text: 'one\ntwo\r\nthree\u2028' } }];
    for (const message of messages) await transport.send(message);
    await transport.close();
    const written = await readFile(file, 'utf8');
    expect(written.endsWith('\n')).toBe(true);
    expect(
      written
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown),
    ).toEqual(messages);
  });
});

describe('standard error of the server', () => {
  const noisy = `process.stderr.write('error: fatal!\\nzweite Zeile ä\\r\\n'); process.stdin.on('end', () => process.stderr.write('the last words')); ${ECHO}`;

  it('[STDIO-005] says nothing about failure: it reaches a function line by line, and the server is served on', async () => {
    const lines: string[] = [];
    const { transport, errors, next } = await run(noisy, { stderr: (line) => void lines.push(line) });
    const received = next();
    await transport.send(ask);
    expect(await received).toEqual(ask);
    await transport.close();
    expect(lines).toEqual(['error: fatal!', 'zweite Zeile ä', 'the last words']);
    expect(errors).toEqual([]);
  });

  it('is read to its end, however much is said at the last', async () => {
    const lines: string[] = [];
    const wordy = "process.stdin.on('end', () => process.stderr.write('x'.repeat(1_000_000) + '\\nthe end')).resume()";
    const { transport } = await run(wordy, { stderr: (line) => void lines.push(line) });
    await transport.close();
    expect(lines.at(-1)).toBe('the end');
    expect(lines.join('')).toHaveLength(1_000_000 + 'the end'.length);
  });

  it('is heard a little longer than the server lives', async () => {
    const lines: string[] = [];
    const child = 'process.stdin.on("end", () => process.stderr.write("from the child")).resume()';
    // However slow this machine is: what is waited for comes, or never would.
    const clock: Clock = { ...systemClock, schedule: (fn, delayMs, options) => systemClock.schedule(fn, 50 * delayMs, options) };
    const { transport, next } = await run(motherOf(child), { stderr: (line) => void lines.push(line), clock });
    await next();
    await transport.close();
    expect(lines).toEqual(['from the child']);
  });

  it('may come in pieces that split a character', async () => {
    const lines: string[] = [];
    const pieces =
      "process.stderr.write(Buffer.from([0xe6, 0xbc])); process.stdin.once('data', () => process.stderr.write(Buffer.from([0xa2, 10])))";
    const { transport, closed } = await run(`${pieces}; ${SAY('1')} process.stdin.on('end', () => process.exit())`, {
      stderr: (line) => void lines.push(line),
    });
    await transport.send(ask);
    await transport.close();
    await closed;
    expect(lines).toEqual(['漢']);
  });

  it('survives a function that throws', async () => {
    const { transport, errors, next } = await run(noisy, {
      stderr: () => {
        throw new Error('thrown by a log');
      },
    });
    const received = next();
    await transport.send(ask);
    await received;
    expect(errors).toEqual([]);
  });

  it('can be read from a stream that is there before the start', async () => {
    const { transport } = prepare(noisy, { stderr: 'pipe' });
    const { stderr } = transport;
    let text = '';
    stderr?.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    const ended = new Promise((resolve) => stderr?.once('end', resolve));
    await transport.start();
    await transport.close();
    await ended;
    expect(text).toBe('error: fatal!\nzweite Zeile ä\r\nthe last words');
  });

  it.for([['pipe'], ['ignore'], [(): void => undefined]] as const)(
    '[STDIO-005] never holds the server up, however much it says and whoever reads it (%s)',
    async ([stderr]) => {
      const talkative = `process.stderr.write('x'.repeat(8_000_000), () => { ${SAY('"done"')} }); ${ECHO}`;
      const { next } = await run(talkative, { stderr });
      expect(valueOf(await next())).toBe('done');
    },
  );

  it('is not there when it goes elsewhere', () => {
    expect(prepare(ECHO).transport.stderr).toBeNull();
    expect(prepare(ECHO, { stderr: 'ignore' }).transport.stderr).toBeNull();
  });
});

describe('ending the server', () => {
  const tell = (text: string): string => `process.stderr.write('${text}\\n');`;
  const stubborn = `process.stdin.on('end', () => { ${tell('end')} }).resume(); setInterval(() => {}, 1000); ${SAY('"ready"')}`;

  /** A server that is up, on a clock that stands still: it has all the time that it needs, however busy the machine is. */
  async function runTelling(script: string, times: { readonly stdinCloseMs: number; readonly terminateMs?: number }) {
    const [clock, told] = [new FakeClock(), [] as string[]];
    const { transport, next } = await run(script, { ...times, clock, stderr: (line) => void told.push(line) });
    await next();
    const says = (...lines: readonly string[]): Promise<void> => expect.poll(() => told).toEqual(lines);
    return { clock, transport, pid: transport.pid, says, told };
  }

  it('[STDIO-010] closes its input and waits for it to end', async () => {
    const slow = `process.stdin.on('end', () => setTimeout(() => { ${tell('ended')} }, 50)).resume(); ${SAY('"ready"')}`;
    const { transport, pid, told } = await runTelling(slow, { stdinCloseMs: 100 });
    const errors: Error[] = [];
    transport.onerror = (error) => void errors.push(error);
    await transport.close();
    expect(told).toEqual(['ended']);
    expect(exists(pid)).toBe(false);
    expect(errors).toEqual([]);
  });

  it('[STDIO-011][STDIO-012] sends SIGTERM to one that does not end, and waits again', async () => {
    const polite = `process.on('SIGTERM', () => { ${tell('SIGTERM')} process.exit() }); ${stubborn}`;
    const { clock, transport, pid, says, told } = await runTelling(polite, { stdinCloseMs: 100 });
    const closed = transport.close();
    await says('end');
    expect(clock.delaysMs).toEqual([100]);
    clock.advance(100);
    await closed;
    expect(told).toEqual(['end', 'SIGTERM']);
    expect(exists(pid)).toBe(false);
  });

  it('[STDIO-011][STDIO-012] kills one that ignores SIGTERM, and leaves no zombie', async () => {
    const deaf = `process.on('SIGTERM', () => { ${tell('SIGTERM')} }); ${stubborn}`;
    const { clock, transport, pid, says } = await runTelling(deaf, { stdinCloseMs: 50, terminateMs: 200 });
    const closed = transport.close();
    await says('end');
    clock.advance(50);
    await says('end', 'SIGTERM');
    expect(clock.delaysMs).toEqual([200]);
    clock.advance(200);
    await closed;
    expect(exists(pid)).toBe(false);
  });

  it('takes what a server says at the last from the pipe, so that it can end', async () => {
    const wordy = `process.stdin.on('end', () => process.stdout.write('x'.repeat(4_000_000), () => process.exit())).resume(); ${SAY('"ready"')} setInterval(() => {}, 1000)`;
    const { transport, pid } = await runTelling(wordy, { stdinCloseMs: 10_000 });
    // No signal ends it, for no time passes.
    await transport.close();
    expect(exists(pid)).toBe(false);
  });

  it('does not wait for a process that the server started and that holds its pipes', async () => {
    const mother = `${HOLDING("['ignore', 'inherit', 'inherit']")} process.stdin.on('end', () => process.exit()).resume()`;
    const pipes = countPipes();
    const clock = new FakeClock();
    const { transport, next } = await run(mother, { stderr: () => undefined, clock });
    const child = valueOf(await next()) as number;
    const closed = transport.close();
    await expect.poll(() => clock.delaysMs).toEqual([LAST_WORDS_MS]);
    clock.advance(LAST_WORDS_MS);
    await closed;
    // The test process is not kept alive by what the child still holds; if it were, the wait would not end.
    while (countPipes() > pipes) await new Promise(setImmediate);
    process.kill(child, 'SIGKILL');
  });
});

describe('an option of a stdio client', () => {
  it.each(['stdinCloseMs', 'terminateMs', 'maxMessageBytes', 'maxQueuedBytes', 'flushMs'])(
    '[ROBUSTNESS-7] %s that is no number is refused before anything runs',
    (name) => {
      for (const [bad, text] of [
        [Number.NaN, 'NaN'],
        [-1, '-1'],
        ['1mb', '"1mb"'],
      ] as const) {
        const make = (): unknown => stdioTransport({ command: process.execPath, [name]: bad });
        expect(make).toThrow(TypeError);
        expect(make).toThrow(new RegExp(`^stdioTransport options: "${name}" must be a number, [01] or more, got ${text}$`));
      }
    },
  );

  it.each([
    { options: { stderr: 'foo' }, says: '"stderr" must be inherit, pipe, ignore or a function, got foo' },
    { options: { cwd: null }, says: 'stdioTransport options: "cwd" must be a string, got null' },
    { options: { envs: {} }, says: 'stdioTransport options: unknown option "envs" (known: command, args, env, cwd, stderr,' },
    { options: { args: 'server.js' }, says: '"args" must be an array, got "server.js"' },
  ])('is refused by what it must be: $options', ({ options, says }) => {
    expect(() => stdioTransport({ command: process.execPath, ...options } as unknown as StdioClientTransportOptions)).toThrow(says);
  });
});

describe('a server that ends by itself', () => {
  it('is reported with its code and its last words, and then the transport closes', async () => {
    const { errors, closed } = await run(`process.stderr.write('loading\\nError: DATABASE_URL is not set\\n'); process.exitCode = 3`, {
      stderr: () => undefined,
    });
    await closed;
    expect(errors).toHaveLength(1);
    expect(errors[0]).toBeInstanceOf(ServerProcessExitedError);
    expect(errors[0]).toMatchObject({
      code: 'ERR_SERVER_PROCESS_EXITED',
      exitCode: 3,
      signal: null,
      lastStderrLines: ['loading', 'Error: DATABASE_URL is not set'],
    });
    expect(errors[0]?.message).toMatch(/exited with code 3\. Its standard error ends with:\nloading\nError: DATABASE_URL is not set$/);
  });

  it('leaves no timer behind, also when its output ends after it has', async () => {
    const clock = new CountingClock();
    const { transport, next, closed } = await run(motherOf('process.stdin.on("end", () => setTimeout(() => {}, 20)).resume()'), { clock });
    await next();
    await transport.send(ask);
    await closed;
    expect(clock.running).toBe(0);
  });

  it('is reported with the signal that ended it', async () => {
    const { transport, errors, closed, next } = await run(SAY('1') + ECHO);
    await next();
    process.kill(transport.pid ?? 0, 'SIGKILL');
    await closed;
    expect(errors).toMatchObject([{ code: 'ERR_SERVER_PROCESS_EXITED', exitCode: null, signal: 'SIGKILL' }]);
    expect(errors[0]?.message).toMatch(
      /was ended by SIGKILL\. Read its standard error .* with stderr: "pipe" this message includes its last lines$/,
    );
    await expect(transport.send(ask)).rejects.toMatchObject({ code: 'ERR_CONNECTION_CLOSED' });
  });

  it('is reported as silent if its standard error was read and it wrote nothing', async () => {
    const { errors, closed } = await run('process.exitCode = 3', { stderr: 'pipe' });
    await closed;
    expect(errors[0]?.message).toMatch(/exited with code 3\. It wrote nothing to standard error$/);
  });

  it('keeps its last 20 lines, each of 4,096 characters at most', async () => {
    const script = `for (let n = 0; n < 100; n++) console.error('line ' + n); process.stderr.write('y'.repeat(10_000)); process.exitCode = 1`;
    const { errors, closed } = await run(script, { stderr: () => undefined });
    await closed;
    const { lastStderrLines } = errors[0] as ServerProcessExitedError;
    expect(lastStderrLines).toHaveLength(20);
    expect(lastStderrLines.slice(-4).map((line) => line.length)).toEqual([7, 4096, 4096, 1808]);
  });

  it.each([
    { stream: 'output', script: `${SAY('1')} console.error('daemon'); require('fs').closeSync(1)` },
    { stream: 'input', script: `${SAY('1')} console.error('daemon'); require('fs').closeSync(0)` },
  ])('is reported by the stream that it closed when it only closed its $stream, and is stopped', async ({ stream, script }) => {
    const times = { stdinCloseMs: 20, terminateMs: 1000 };
    const { transport, errors, closed, next } = await run(`${script}; setInterval(() => {}, 1000)`, { ...times, stderr: () => undefined });
    await next();
    const { pid } = transport;
    // What is written to a pipe that nobody reads any more fails with the first write, or with one of the next.
    const write = async (): Promise<void> =>
      transport
        .send(ask)
        .then(() => new Promise(setImmediate))
        .then(write);
    if (stream === 'input') await write().catch(() => undefined);
    await closed;
    expect(errors).toHaveLength(1);
    expect(errors[0]).toBeInstanceOf(ServerProcessExitedError);
    expect(errors[0]).toMatchObject({
      code: 'ERR_SERVER_PROCESS_EXITED',
      command: process.execPath,
      closedStream: stream,
      lastStderrLines: ['daemon'],
    });
    expect(errors[0]?.message).toContain(`closed its standard ${stream} but kept running, and was stopped`);
    expect([pid, exists(pid)]).toEqual([expect.any(Number), false]);
  });

  it.each([
    { exitCode: 3, told: { code: 'ERR_SERVER_PROCESS_EXITED', exitCode: 3, signal: null } },
    { exitCode: 0, told: { code: 'ERR_SERVER_PROCESS_EXITED', closedStream: 'output' } },
    { exitCode: 143, told: { code: 'ERR_SERVER_PROCESS_EXITED', closedStream: 'output' } },
  ])('is reported by a code of its own, though it is late, and by its stream where it ended as it was told: $exitCode', async (row) => {
    const { exitCode, told } = row;
    const script = `process.on('SIGTERM', () => process.exit(${exitCode})); ${SAY('1')} require('fs').closeSync(1); setInterval(() => {}, 1000)`;
    const { errors, closed } = await run(script, { stdinCloseMs: 20, stderr: () => undefined });
    await closed;
    expect(errors).toHaveLength(1);
    expect(errors).toMatchObject([told]);
  });

  it('is reported when the process exits with code 0 and wrote nothing', async () => {
    const { errors, closed } = await run('');
    await closed;
    expect(errors).toMatchObject([{ exitCode: 0 }]);
  });

  it('[STDIO-014] is no error when it has spoken: a server may end the session', async () => {
    const { messages, errors, closed } = await run(`${SAY('"bye"')} process.stdout.end()`);
    await closed;
    expect(messages.map(valueOf)).toEqual(['bye']);
    expect(errors).toEqual([]);
  });

  it('is heard to the end before it is reported', async () => {
    const { messages, errors, closed } = await run(`for (let n = 0; n < 1000; n++) { ${SAY('n')} } process.exitCode = 1`);
    const counts: number[] = [];
    await closed;
    counts.push(messages.length);
    expect(counts).toEqual([1000]);
    expect(errors).toHaveLength(1);
  });

  it.skipIf(process.platform !== 'linux')('[ROBUSTNESS-9] leaves no descriptor and no pipe behind, however it ended', async () => {
    const countDescriptors = async (): Promise<number> => (await readdir('/proc/self/fd')).length;
    const scripts = ['process.exit(1)', 'process.abort()', ECHO, `${SAY('1')} process.stdin.once('data', () => process.exit(2))`];
    const [descriptors, pipes] = [await countDescriptors(), countPipes()];
    for (const script of [...scripts, ...scripts]) {
      const { transport } = await run(script, { stderr: () => undefined });
      await transport.send(ask).catch(() => undefined);
      await transport.close();
    }
    while (countPipes() > pipes) await new Promise(setImmediate);
    expect(await countDescriptors()).toBe(descriptors);
  });

  it('is noticed although a process that it started holds its output', async () => {
    const clock = new FakeClock();
    const mother = `${HOLDING("['ignore', 'inherit', 'ignore']")} process.stdin.on('data', () => process.exit(4))`;
    const { transport, errors, next, closed } = await run(mother, { clock });
    const child = valueOf(await next()) as number;
    await transport.send(ask);
    // Its output is waited for when it has ended, and once more when it is known to be gone.
    for (const ended of [false, true]) {
      await expect.poll(() => clock.delaysMs).toEqual([LAST_WORDS_MS]);
      expect(errors).toEqual([]);
      clock.advance(LAST_WORDS_MS);
      if (ended) await closed;
    }
    process.kill(child, 'SIGKILL');
    expect(errors).toMatchObject([{ exitCode: 4 }]);
  });

  it('[ROBUSTNESS-5] does no harm when it ends in the middle of a message, or while it is written to', async () => {
    const { transport, errors, closed, next } = await run(
      `${SAY('1')} process.stdout.write('{"jsonrpc":"2.0","id":1,'); process.stdin.once('data', () => process.exit(5))`,
    );
    await next();
    const sends = Array.from({ length: 200 }, () =>
      transport.send({ jsonrpc: '2.0', method: 'note', params: { pad: 'x'.repeat(20_000) } }).catch(() => undefined),
    );
    await closed;
    await Promise.all(sends);
    expect(errors.map((error) => (error as { code?: string }).code)).toEqual(['ERR_PARSE', 'ERR_SERVER_PROCESS_EXITED']);
  });

  it('is ended as a client ends it when it closes its output and lives on', async () => {
    const { transport, closed } = await run(
      `${SAY('1')} process.stdin.on('end', () => process.exit()).resume(); require('fs').closeSync(1); setInterval(() => {}, 1000)`,
    );
    const { pid } = transport;
    await closed;
    expect(exists(pid)).toBe(false);
  });
});

describe('a hostile server', () => {
  it('[ROBUSTNESS-7] that sends a line without end is reported once and read on', async () => {
    const script = `const piece = 'x'.repeat(1 << 20); let n = 0; (function go() { if (n++ < 40) process.stdout.write(piece, go); else { process.stdout.write('\\n'); ${SAY('"after"')} } })(); process.stdin.resume()`;
    const { errors, next } = await run(script);
    const before = process.memoryUsage().rss;
    expect(valueOf(await next())).toBe('after');
    expect(errors).toMatchObject([{ code: 'ERR_MESSAGE_TOO_LARGE', maxBytes: 16 * 1024 * 1024 }]);
    expect(process.memoryUsage().rss - before).toBeLessThan(150 * 1024 * 1024);
  });

  it('that prints a banner is reported and read on', async () => {
    const { errors, next } = await run(`console.log('Server running on stdio'); ${SAY('"ready"')} ${ECHO}`);
    expect(valueOf(await next())).toBe('ready');
    expect(errors).toMatchObject([{ code: 'ERR_PARSE' }]);
  });
});

describe('stdioTransport', () => {
  it.each([undefined, {}, { command: '' }])('wants a command, and says so of %j', (options) => {
    expect(() => stdioTransport(options as StdioClientTransportOptions)).toThrow(
      'stdioTransport({ command, args }) needs "command", the program to run',
    );
  });

  it('is a transport, and a factory of fresh ones that run processes of their own', async () => {
    const source = stdioTransport({ command: process.execPath, args: ['-e', SAY('process.pid') + ECHO] });
    const pids = new Set<unknown>();
    for (const transport of [source, source(), source()]) {
      const received = new Promise<JsonRpcMessage>((resolve) => {
        transport.onmessage = resolve;
      });
      await transport.start();
      pids.add(valueOf(await received));
      await transport.close();
    }
    expect(pids.size).toBe(3);
    expect(source.pid).toBeUndefined();
  });

  it('[STDIO-015] runs the server again after it has died', async () => {
    const source = stdioTransport({
      command: process.execPath,
      args: ['-e', `process.stdin.once('data', () => process.exit(1)); ${SAY('process.pid')}`],
    });
    const died = new Promise<void>((resolve) => {
      source.onclose = resolve;
    });
    await source.start();
    await source.send(ask);
    await died;
    await expect(source.start()).rejects.toMatchObject({ code: 'ERR_CONNECTION_CLOSED' });
    const again = source();
    const received = new Promise<JsonRpcMessage>((resolve) => {
      again.onmessage = resolve;
    });
    await again.start();
    expect(valueOf(await received)).toEqual(expect.any(Number));
    await again.close();
  });

  it('names its server without telling its arguments', () => {
    const keyOf = (args: readonly string[]): string => stdioTransport({ command: 'server', args }).eraKey;
    expect(keyOf(['--token', 'secret'])).toMatch(/^stdio:server#[\w-]{43}$/);
    expect(keyOf(['--token', 'secret'])).toBe(keyOf(['--token', 'secret']));
    expect(keyOf(['--token', 'other'])).not.toBe(keyOf(['--token', 'secret']));
    expect(stdioTransport({ command: 'server' })()).toHaveProperty('eraKey', stdioTransport({ command: 'server' }).eraKey);
  });
});
