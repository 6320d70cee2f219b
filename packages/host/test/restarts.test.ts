/** Servers that die, fail to start, lose their sessions, or need the user to sign in. */

import { fileURLToPath } from 'node:url';
import { inMemoryTransport } from '@mortise/client/in-memory';
import { MortiseError, type Transport } from '@mortise/jsonrpc-core';
import type { McpServer } from '@mortise/server';
import { createHttpHandler, type HttpHandler } from '@mortise/transport-http/server';
import { httpTransport } from '@mortise/transport-http/client';
import { stdioTransport } from '@mortise/transport-stdio/client';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Host, ServerState } from '../src/index.ts';
import { makeEcho, makeServer, nextEvent, openHost, textOf } from './servers.ts';

const worker = fileURLToPath(new URL('programs/worker.ts', import.meta.url));
const workerArgs = ['--conditions=mortise-source', '--import', 'tsx', worker];

function statesOf(host: Host & { readonly events: readonly { readonly type: string }[] }, server: string): readonly string[] {
  return host.events.flatMap((event) => {
    const { type, server: of, state } = event as { type: string; server?: string; state?: ServerState };
    return type === 'state' && of === server && state ? [state.status] : [];
  });
}

/** Waits until a server has this state. */
async function reaches(host: Host, server: string, status: ServerState['status']): Promise<void> {
  if (host.states.get(server)?.status === status) return;
  await nextEvent(host, (event) => event.type === 'state' && event.server === server && event.state.status === status);
}

describe('a server process that dies in a call', () => {
  it('fails that call alone, and is started again', async () => {
    const command = { command: process.execPath, args: workerArgs };
    const host = openHost({
      servers: { worker: { transport: stdioTransport(command) }, other: { transport: inMemoryTransport(makeEcho('other')) } },
    });
    const before = textOf(await host.callTool('worker__pid'));
    const again = nextEvent(host, (event) => event.type === 'state' && event.state.status === 'starting');
    const [died, other] = await Promise.allSettled([host.callTool('worker__die'), host.callTool('other__echo')]);
    expect(died.status).toBe('rejected');
    expect(other).toMatchObject({ status: 'fulfilled', value: { content: [{ text: 'other' }] } });
    await again;
    await reaches(host, 'worker', 'ready');
    expect(textOf(await host.callTool('worker__pid'))).not.toBe(before);
    expect(statesOf(host, 'worker')).toEqual(['starting', 'ready', 'failed', 'starting', 'ready']);
  });
});

describe('a server that sends garbage', () => {
  it('[ROBUSTNESS-18] is ended after a thousand errors, so that it takes no more time from the others', async () => {
    const noise =
      "const line = '{\\n'.repeat(100); const write = () => { while (process.stdout.write(line)); }; process.stdout.on('drain', write); write();";
    const host = openHost({
      servers: {
        noisy: { transport: stdioTransport({ command: process.execPath, args: ['-e', noise] }) },
        sound: { transport: inMemoryTransport(makeEcho('sound')) },
      },
    });
    await expect(host.start('noisy')).rejects.toThrow('more than 1000 errors in a minute');
    expect(host.states.get('noisy')).toMatchObject({ status: 'failed' });
    expect(textOf(await host.callTool('sound__echo'))).toBe('sound');
  });
});

describe('a server that floods its client with changes', () => {
  it('[ROBUSTNESS-18] is ended, and no other server is disturbed', async () => {
    const server = makeEcho('busy');
    const host = openHost({
      servers: {
        busy: { transport: inMemoryTransport(server, { via: 'channel' }), client: { era: 'legacy' } },
        sound: { transport: inMemoryTransport(makeEcho('sound')) },
      },
      clock: new FakeClock(),
    });
    await host.start('busy');
    const [session] = server.sessions;
    const change = (): void => session?.tell({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' }, undefined);
    for (let sent = 0; sent < 10_000; sent += 1) {
      change();
      if (sent % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    expect(textOf(await host.callTool('busy__echo'))).toBe('busy');
    change();
    await reaches(host, 'busy', 'failed');
    expect(host.states.get('busy')).toMatchObject({ reason: expect.stringContaining('more than 10000 notifications in a minute') });
    expect(textOf(await host.callTool('sound__echo'))).toBe('sound');
  });
});

describe('a server that cannot be started', () => {
  it('is tried again after pauses that grow, then waits for a call; calls in a pause fail at once', async () => {
    const clock = new FakeClock();
    const startedAtMs: number[] = [];
    const transport = (): Transport => {
      startedAtMs.push(clock.monotonicMs());
      throw new Error('not there');
    };
    const host = openHost({ servers: { gone: { transport } }, clock });
    await expect(host.callTool('gone__x')).rejects.toMatchObject({
      code: 'ERR_SERVER_UNAVAILABLE',
      message: expect.stringContaining('not there'),
    });
    await expect(host.callTool('gone__x')).rejects.toMatchObject({ code: 'ERR_SERVER_UNAVAILABLE' });
    expect(startedAtMs).toHaveLength(1);
    for (let second = 0; second < 300; second += 1) {
      clock.advance(1_000);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(startedAtMs).toHaveLength(6);
    const pauses = startedAtMs.slice(1).map((atMs, index) => atMs - (startedAtMs[index] ?? 0));
    expect(pauses.every((pause, index) => pause >= 500 * 2 ** index && pause <= 1_000 * 2 ** index + 2_000)).toBe(true);
    expect(host.states.get('gone')).toMatchObject({ status: 'failed', willRetry: false });
    await expect(host.callTool('gone__x')).rejects.toMatchObject({ code: 'ERR_SERVER_UNAVAILABLE' });
    expect(startedAtMs).toHaveLength(7);
  });

  it('because an option of its client is wrong says which', async () => {
    const host = openHost({ servers: { odd: { transport: inMemoryTransport(makeEcho('odd')), client: { requestTimeout: 5 } as object } } });
    await expect(host.start('odd')).rejects.toThrow('unknown option "requestTimeout"');
    expect(host.states.get('odd')).toMatchObject({ status: 'failed' });
  });

  it('can be started by the program at any time', async () => {
    const server = makeEcho('late');
    let isThere = false;
    const connect = inMemoryTransport(server, { via: 'channel' }) as () => Transport;
    const transport = (): Transport => {
      if (!isThere) throw new Error('not there');
      return connect();
    };
    const host = openHost({ servers: { late: { transport, startsAtOnce: true } }, clock: new FakeClock() });
    await reaches(host, 'late', 'failed');
    isThere = true;
    await host.start('late');
    expect(host.states.get('late')).toEqual({ status: 'ready' });
    expect(textOf(await host.callTool('late__echo'))).toBe('late');
  });
});

describe('a server that needs the user to sign in', () => {
  class NeedsSignIn extends MortiseError {
    readonly code = 'ERR_SIGN_IN_PENDING';
    readonly authorizationUrl = 'https://login.example/authorize';
  }

  it('says so and where, is left out of lists, and is ready once the user has signed in', async () => {
    const server = makeEcho('private');
    let isSignedIn = false;
    const connect = inMemoryTransport(server, { via: 'channel' }) as () => Transport;
    const transport = (): Transport => {
      if (!isSignedIn) throw new NeedsSignIn('sign in first');
      return connect();
    };
    const host = openHost({ servers: { private: { transport } } });
    expect(await host.tools()).toEqual([]);
    expect(host.states.get('private')).toEqual({
      status: 'needs sign-in',
      reason: 'sign in first',
      url: 'https://login.example/authorize',
    });
    await expect(host.callTool('private__echo')).rejects.toMatchObject({ code: 'ERR_SIGN_IN_REQUIRED', server: 'private' });
    isSignedIn = true;
    await host.start('private');
    expect(textOf(await host.callTool('private__echo'))).toBe('private');
  });
});

describe('an HTTP server that lost its sessions', () => {
  function serve(): HttpHandler {
    const server: McpServer = makeServer('http');
    server.registerTool('echo', {}, () => 'here');
    const handler = createHttpHandler(server, { path: '/mcp' });
    onTestFinished(() => handler.close());
    return handler;
  }

  it('gets a new session, and the call that it refused once more', async () => {
    let handler = serve();
    const fetch = (url: string, init?: RequestInit): Promise<Response> => handler.fetch(new Request(url, init));
    const transport = httpTransport('http://127.0.0.1/mcp', { fetch });
    const host = openHost({ servers: { http: { transport, client: { era: 'legacy' } } } });
    expect(textOf(await host.callTool('http__echo'))).toBe('here');
    handler = serve();
    expect(textOf(await host.callTool('http__echo'))).toBe('here');
  });
});
