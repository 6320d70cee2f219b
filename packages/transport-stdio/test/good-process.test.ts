/** A stdio server is a good process: real processes, ended in every way. */

import { spawn } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildFixtures, removeFolders } from './fixture.ts';
import { ServerProcess } from './server-process.ts';

let fixtures: Awaited<ReturnType<typeof buildFixtures<'process-server' | 'middle-man' | 'flooding-client'>>>;

beforeAll(async () => {
  fixtures = await buildFixtures('process-server', 'middle-man', 'flooding-client');
});
afterAll(removeFolders);

const start = (how = 'serve'): Promise<ServerProcess> => ServerProcess.start(fixtures['process-server'], how);
const EXIT_OK = { code: 0, signal: null };

describe('the end of the input', () => {
  it.for(['serve', 'transport'])(
    '[ROBUSTNESS-13][STDIO-013] ends the process in under a second with code 0, although a timer keeps it alive (%s)',
    async (how) => {
      const server = await start(how);
      server.write({ id: 1, method: 'keepAlive' });
      await server.answers(1);
      const ms = await server.timeToEnd(() => server.child.stdin?.end());
      expect(await server.exited).toEqual(EXIT_OK);
      expect(ms).toBeLessThan(1000);
    },
  );

  it.for(['serve', 'transport'])('lets what was asked before it be answered (%s)', async (how) => {
    const server = await start(how);
    server.write({ id: 1, method: 'slow', params: { ms: 50 } }, { id: 2, method: 'echo', params: { a: 1 } });
    server.child.stdin?.end();
    expect(await server.exited).toEqual(EXIT_OK);
    expect(server.messages.map((message) => message.id)).toEqual([2, 1]);
  });

  it('[ROBUSTNESS-13] aborts what still runs after 500 ms, and ends in under a second', async () => {
    const server = await start();
    server.write({ id: 1, method: 'slow', params: { ms: 60_000 } });
    let elapsedMs = -performance.now();
    const ms = await server.timeToEnd(() => server.child.stdin?.end());
    elapsedMs += performance.now();
    expect(await server.exited).toEqual(EXIT_OK);
    expect(elapsedMs).toBeGreaterThan(400);
    expect(ms).toBeLessThan(1000);
    await server.stderrEnded;
    expect(server.stderrLines).toContain('aborted');
  });

  it('leaves the process alone where the program says so', async () => {
    const server = await start('stay');
    server.write({ id: 1, method: 'keepAlive' });
    await server.answers(1);
    server.child.stdin?.end();
    await server.says('closed');
    // A process that was to be ended would be gone before a timer of its own could tell.
    server.child.kill('SIGKILL');
    expect(await server.exited).toEqual({ code: null, signal: 'SIGKILL' });
  });
});

describe('a signal', () => {
  it.for(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
    '[ROBUSTNESS-13] %s ends the process in under a second with code 0, after what is in flight',
    async (signal) => {
      const server = await start();
      server.write({ id: 1, method: 'keepAlive' }, { id: 2, method: 'slow', params: { ms: 100 } });
      await server.answers(1);
      const ms = await server.timeToEnd(() => server.child.kill(signal));
      expect(await server.exited).toEqual(EXIT_OK);
      expect(ms).toBeLessThan(1000);
      expect(server.messages.map((message) => message.id)).toEqual([1, 2]);
    },
  );

  it('[ROBUSTNESS-13] aborts what does not end within 500 ms', async () => {
    const server = await start();
    server.write({ id: 1, method: 'slow', params: { ms: 60_000 } }, { id: 2, method: 'echo' });
    await server.answers(1);
    const ms = await server.timeToEnd(() => server.child.kill('SIGTERM'));
    expect(await server.exited).toEqual(EXIT_OK);
    expect(ms).toBeLessThan(1000);
    await server.stderrEnded;
    expect(server.stderrLines).toContain('aborted');
  });

  it('[ROBUSTNESS-13] ends the process in under a second although the client reads nothing', async () => {
    const server = new ServerProcess([fixtures['process-server']]);
    server.child.stdout?.pause();
    await server.says('ready');
    server.write({ id: 1, method: 'big', params: { bytes: 8_000_000 } }, { id: 2, method: 'log' });
    await server.says('Küche');
    const ms = await server.timeToEnd(() => server.child.kill('SIGTERM'));
    expect(await server.exited).toEqual(EXIT_OK);
    expect(ms).toBeLessThan(1000);
  });

  it('[ROBUSTNESS-13] that follows the end of the input at once does not spoil the code', async () => {
    const server = await start();
    server.write({ id: 1, method: 'keepAlive' });
    await server.answers(1);
    server.child.stdin?.end();
    await server.says('closed');
    server.child.kill('SIGTERM');
    expect(await server.exited).toEqual(EXIT_OK);
  });

  it('ends the process at once when it comes again', async () => {
    const server = await start();
    server.write({ id: 1, method: 'slow', params: { ms: 60_000 } }, { id: 2, method: 'echo' });
    await server.answers(1);
    server.child.kill('SIGTERM');
    // A refused request tells that the first signal has arrived.
    server.write({ id: 3, method: 'echo' });
    await server.answers(2);
    const ms = await server.timeToEnd(() => server.child.kill('SIGTERM'));
    expect(await server.exited).toEqual(EXIT_OK);
    expect(ms).toBeLessThan(350);
  });
});

describe('a client that asks on and on', () => {
  it('[ROBUSTNESS-7] and does not read is read no further, and answered in full once it reads', async () => {
    const server = new ServerProcess([fixtures['process-server']]);
    server.child.stdout?.pause();
    await server.says('ready');
    const pad = 'x'.repeat(1024 * 1024);
    for (let id = 1; id <= 100; id++) server.write({ id, method: 'echo', params: { pad } });
    expect(await readRequests(server)).toBeLessThan(25);
    server.child.stdout?.resume();
    await server.answers(100);
    expect(server.messages.map(({ id }) => id)).toEqual(Array.from({ length: 100 }, (_, index) => index + 1));
    server.child.stdin?.end();
    await server.stderrEnded;
    expect(server.stderrLines.filter((line) => line.startsWith('error'))).toEqual([]);
  });

  it('[ROBUSTNESS-7] and has too many bytes in flight is refused what is too much at once, and answered the rest', async () => {
    const server = new ServerProcess([fixtures['process-server']]);
    await server.says('ready');
    const pad = 'x'.repeat(1024 * 1024);
    for (let id = 1; id <= 80; id++) server.write({ id, method: 'hold', params: { pad } });
    server.write({ id: 'small', method: 'log' });
    await server.says('Küche');
    server.write({ id: 'last', method: 'release' });
    await server.answers(82);
    server.child.kill('SIGKILL');
    const refused = server.messages.filter(({ error }) => error).map(({ id }) => id);
    expect(refused).toEqual(Array.from({ length: 17 }, (_, index) => 64 + index));
    expect(server.messages.slice(0, 18).map(({ id }) => id)).toEqual([...refused, 'small']);
  });
});

/** How many requests a server has read once it reads no more: as many as it said twenty times in a row. */
async function readRequests(server: ServerProcess): Promise<number> {
  const said = (): string[] => server.stderrLines.filter((line) => line.startsWith('requests '));
  for (let asked = 1; ; asked++) {
    process.kill(server.pid, 'SIGUSR2');
    await server.until(() => said().length >= asked);
    const last = said().slice(-20);
    if (last.length === 20 && new Set(last).size === 1) return Number(last[0]?.split(' ')[1]);
  }
}

describe('a client that is gone', () => {
  it('[ROBUSTNESS-13][ROBUSTNESS-5] that reads neither answers nor logs any more: a broken pipe ends the process in under a second with code 0', async () => {
    const server = await start();
    server.write({ id: 1, method: 'keepAlive' });
    await server.answers(1);
    server.child.stdout?.destroy();
    server.child.stderr?.destroy();
    const ms = await server.timeToEnd(() => server.write({ id: 2, method: 'stray' }, { id: 3, method: 'echo' }));
    expect(await server.exited).toEqual(EXIT_OK);
    expect(ms).toBeLessThan(1000);
  });

  it('[ROBUSTNESS-13] that was killed while somebody else holds the pipes: the process ends in under a second', async () => {
    // A third process holds the other end of the server's input, so that the server sees no end of it.
    const holder = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: ['ignore', 'pipe', 'ignore'] });
    const server = new ServerProcess([fixtures['middle-man'], fixtures['process-server']], [holder.stdout, 'pipe', 'pipe']);
    await server.says('ready');
    const ms = await server.timeToEnd(() => server.child.kill('SIGKILL'), server.stderrEnded);
    expect((await server.exited).signal).toBe('SIGKILL');
    expect(ms).toBeLessThan(1000);
    expect(server.stderrLines.join('\n')).toMatch(/closed\ncpu \d+$/);
    expect(holder.exitCode).toBeNull();
    holder.kill();
  });

  it('[ROBUSTNESS-13] that was killed in the midst of asking without reading: the paused server ends in under a second', async () => {
    const client = new ServerProcess([fixtures['flooding-client'], fixtures['process-server'], 'unwatched']);
    await client.says('ready');
    expect(await readRequests(client)).toBeLessThan(500);
    const ms = await client.timeToEnd(() => client.child.kill('SIGKILL'), client.stderrEnded);
    expect((await client.exited).signal).toBe('SIGKILL');
    expect(ms).toBeLessThan(1000);
    expect(client.stderrLines).toContain('closed');
  });

  it('[ROBUSTNESS-13] that ends the input without having read: the paused server ends', async () => {
    const server = new ServerProcess([fixtures['process-server']]);
    server.child.stdout?.pause();
    await server.says('ready');
    const pad = 'x'.repeat(64 * 1024);
    const stdin = server.child.stdin;
    for (let id = 1; id <= 300; id++) server.write({ id, method: 'echo', params: { pad } });
    const requests = await readRequests(server);
    expect(requests).toBeGreaterThan(200);
    stdin?.destroy();
    expect(await server.exited).toEqual(EXIT_OK);
  });

  it('[ROBUSTNESS-13] leaves no process that spins', async () => {
    const server = await start();
    server.write({ id: 1, method: 'keepAlive' });
    await server.answers(1);
    const ms = await server.timeToEnd(() => server.child.stdin?.end());
    await server.stderrEnded;
    const cpuMs = Number(/cpu (\d+)/.exec(server.stderrLines.join('\n'))?.[1]);
    expect(cpuMs).toBeLessThan(1000);
    expect(ms).toBeLessThan(1000);
  });
});

describe('standard output', () => {
  it.for(['serve', 'transport'])(
    '[ROBUSTNESS-13][STDIO-002] carries messages alone: whatever else is written goes to standard error (%s)',
    async (how) => {
      const server = await start(how);
      server.write({ id: 1, method: 'stray' }, { id: 2, method: 'stray' }, { id: 3, method: 'echo' });
      server.child.stdin?.end();
      await Promise.all([server.exited, server.stderrEnded]);
      expect(server.messages).toEqual([
        { jsonrpc: '2.0', id: 1, result: {} },
        { jsonrpc: '2.0', id: 2, result: {} },
        { jsonrpc: '2.0', id: 3, result: {} },
      ]);
      for (const text of [
        'console.log',
        'console.info',
        "{ stray: 'console.dir' }",
        "'console.table'",
        'stray process.stdout.write',
        'stray bytes',
      ]) {
        expect(server.stderrLines.filter((line) => line.includes(text) && !line.startsWith('[mortise]'))).toHaveLength(2);
      }
    },
  );

  it('warns once, and names what was written and where', async () => {
    const server = await start();
    server.write({ id: 1, method: 'stray' }, { id: 2, method: 'stray' });
    server.child.stdin?.end();
    await server.stderrEnded;
    const warnings = server.stderrLines.filter((line) => line.startsWith('[mortise]'));
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(
      /"stray console\.log", written by console\.log at .*process-server\.mjs:\d+:\d+, was moved to standard error/,
    );
  });

  it('is given back when the program closes, and so are the signals; nothing keeps the process alive', async () => {
    const server = await start();
    server.write({ id: 1, method: 'close' });
    expect(await server.exited).toEqual(EXIT_OK);
    expect(server.messages).toEqual([
      { jsonrpc: '2.0', id: 1, result: {} },
      { listeners: [0, 0, 0], hasOwnWrite: false },
    ]);
  });

  it('[STDIO-014] ends with the process when the server ends the session', async () => {
    const server = await start('transport');
    server.write({ id: 1, method: 'close' });
    await server.answers(1);
    expect(await server.exited).toEqual(EXIT_OK);
  });
});

describe('standard error', () => {
  it('[STDIO-004] is free for logging in UTF-8', async () => {
    const server = await start();
    server.write({ id: 1, method: 'log' });
    await server.says('ein Gruß aus der Küche 漢字 😀');
    await server.answers(1);
    server.child.stdin?.end();
    await server.exited;
  });
});

describe('what is read', () => {
  it('[ROBUSTNESS-13] lets request 0 be cancelled', async () => {
    const server = await start();
    server.write({ id: 0, method: 'slow', params: { ms: 60_000 } }, { method: 'notifications/cancelled', params: { requestId: 0 } });
    await server.says('aborted');
    server.write({ id: 1, method: 'echo' });
    server.child.stdin?.end();
    await server.exited;
    expect(server.messages.map((message) => message.id)).toEqual([1]);
  });

  it('[ROBUSTNESS-7] may hold a line of 10 MiB, and none beyond 16 MiB, which is refused under its id', async () => {
    const server = await start();
    const text = 'x'.repeat(10 * 1024 * 1024);
    server.write({ id: 1, method: 'echo', params: { text } });
    await server.answers(1);
    server.write({ id: 2, method: 'echo', params: { text: text + text } }, { id: 3, method: 'echo' });
    await server.answers(3);
    server.child.stdin?.end();
    await server.exited;
    expect(server.messages[0]).toEqual({ jsonrpc: '2.0', id: 1, result: { text } });
    expect(server.messages[1]).toMatchObject({ id: 2, error: { code: -32600 } });
    expect(server.messages[2]).toMatchObject({ id: 3, result: {} });
  });

  it('[ROBUSTNESS-4][ROBUSTNESS-5] may be garbage: it is answered with -32700, and the next line is read', async () => {
    const server = await start();
    server.child.stdin?.write(Buffer.concat([Buffer.from('{"jsonrpc": oops\n"'), Buffer.from([0xff]), Buffer.from('"\r\n\r\n\n')]));
    server.write({ id: 1, method: 'echo' });
    await server.answers(3);
    server.child.stdin?.end();
    await server.exited;
    expect(server.messages).toMatchObject([{ error: { code: -32700 } }, { error: { code: -32700 } }, { id: 1, result: {} }]);
  });
});
