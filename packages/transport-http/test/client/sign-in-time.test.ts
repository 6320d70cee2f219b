/** Whose time it is while somebody signs in. */

import { type ClientOptions, McpClient } from '@mortise/client';
import type { Transport } from '@mortise/jsonrpc-core';
import { Connection } from '@mortise/jsonrpc-core/connection';
import { AuthChallengeError, REVISIONS } from '@mortise/protocol';
import type { Authorizer } from '@mortise/protocol/contracts';
import { McpServer } from '@mortise/server';
import { httpTransport, SSEClientTransport } from '@mortise/transport-http/client';
import { serveHttp } from '@mortise/transport-http/node';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import { describe, expect, it, onTestFinished } from 'vitest';

/** Refuses the GET stream, whose own sign-in would take its time beside that of the call. */
const fetchWithoutGet: typeof fetch = (url, init) =>
  init?.method === 'GET' ? Promise.resolve(new Response(null, { status: 405 })) : fetch(url, init);

const INFO = { name: 'c', version: '1.0.0' };

interface Served {
  readonly url: string;
  readonly authorizer: Authorizer;
  readonly valid: Set<string>;
  readonly person: { readonly signIns: number };
}

/** A server that wants a token of every request, and a person who takes an hour to get one. */
async function serve(clock: FakeClock, sse = false): Promise<Served> {
  const server = new McpServer({ name: 'notes', version: '1.0.0' });
  server.registerTool('who', {}, (ctx) => ctx.principal);
  const valid = new Set<string>();
  const tokenVerifier = {
    verify: async ({ token = '' }) => {
      if (!valid.has(token)) throw new AuthChallengeError('sign in first', { status: 401, challenge: 'Bearer' });
      return { principal: 'ada', scopes: [] };
    },
  };
  const serving = await serveHttp(server, { port: 0, tokenVerifier, sse });
  onTestFinished(() => serving.close());
  const person = { token: '', signIns: 0 };
  const authorizer: Authorizer = {
    headers: async () => ({ Authorization: `Bearer ${person.token}` }),
    onChallenge: async ({ given }) => {
      if (given?.['authorization'] !== `Bearer ${person.token}`) return 'retry';
      for (let minute = 0; minute < 60; minute++) clock.advance(60_000);
      person.signIns += 1;
      person.token = `ada-${person.signIns}`;
      valid.add(person.token);
      return 'retry';
    },
  };
  return { url: serving.url, authorizer, valid, person };
}

async function connect(transport: Transport, options: ClientOptions): Promise<McpClient> {
  const client = await McpClient.connect(transport, INFO, options);
  onTestFinished(() => client.close());
  return client;
}

describe('while the authorizer signs in', () => {
  it.each([undefined, 'modern', 'legacy'] as const)('the time of a call, and of connecting, stands still (era: %s)', async (era) => {
    const clock = new FakeClock();
    const { url, authorizer, valid, person } = await serve(clock);
    const client = await connect(httpTransport(url, { authorizer, clock, fetch: fetchWithoutGet }), { clock, era });
    expect(person.signIns).toBe(1);
    valid.clear();
    const { content } = await client.callTool('who', {}, { timeoutMs: 1000, maxTimeoutMs: 1000 });
    expect(content).toMatchObject([{ text: 'ada' }]);
    expect(person.signIns).toBe(2);
  });

  it('the time of a notification stands still in a legacy session, and that of the calls behind it', async () => {
    const clock = new FakeClock();
    const { url, authorizer, valid, person } = await serve(clock);
    const connection = new Connection(await httpTransport(url, { authorizer, clock, fetch: fetchWithoutGet }).openLegacy(), { clock });
    onTestFinished(() => connection.close());
    await connection.start();
    const [{ version: protocolVersion } = expect.fail('no legacy revision')] = REVISIONS.filter(({ era }) => era === 'legacy').reverse();
    await connection.request('initialize', { protocolVersion, capabilities: {}, clientInfo: INFO });
    await connection.notify('notifications/initialized');
    expect(person.signIns).toBe(1);
    valid.clear();
    const told = connection.notify('notifications/roots/list_changed');
    const called = connection.request('tools/call', { name: 'who' }, { timeoutMs: 1000, maxTimeoutMs: 1000 });
    await told;
    expect(person.signIns).toBe(2);
    expect(await called).toMatchObject({ content: [{ text: 'ada' }] });
    expect(person.signIns).toBe(2);
  });

  it('the time of a call, and of opening the stream, stands still over HTTP+SSE', async () => {
    const clock = new FakeClock();
    const { url, authorizer, valid, person } = await serve(clock, true);
    const transport = new SSEClientTransport(new URL('/sse', url), { authorizer, clock });
    const client = await connect(transport, { clock, era: 'legacy' });
    expect(person.signIns).toBe(1);
    valid.clear();
    const { content } = await client.callTool('who', {}, { timeoutMs: 1000, maxTimeoutMs: 1000 });
    expect(content).toMatchObject([{ text: 'ada' }]);
    expect(person.signIns).toBe(2);
  });
});
