/** Whatever comes in is answered, and nothing reaches an uncaught path. */

import fc from 'fast-check';
import { afterEach, expect, it } from 'vitest';
import { createHttpHandler, type HttpHandler } from '@mortise/transport-http/server';
import { MODERN } from '../support/modern.ts';
import { ScriptedEndpoint } from '../support/scripted-endpoint.ts';

let handler: HttpHandler | undefined;
afterEach(() => handler?.close({ drainMs: 0 }));

const METHODS = ['POST', 'GET', 'DELETE', 'OPTIONS', 'PUT', 'HEAD'];
const PATHS = [
  '/mcp',
  '/mcp?x=1',
  '/sse',
  '/messages',
  '/messages?sessionId=x',
  '/',
  '/.well-known/oauth-protected-resource',
  '//',
  '/mcp/../mcp',
];
const NAMES = [
  'content-type',
  'accept',
  'mcp-session-id',
  'mcp-protocol-version',
  'mcp-method',
  'mcp-name',
  'mcp-param-region',
  'origin',
  'authorization',
  'last-event-id',
  'content-encoding',
];
const VALUES = [
  'application/json',
  'text/event-stream',
  MODERN,
  '2025-11-25',
  'tools/call',
  'tools/list',
  'echo',
  '=?base64?!?=',
  'http://localhost',
  'null',
  '',
  'x'.repeat(500),
  '\u00e9',
];
const KEYS = ['jsonrpc', 'id', 'method', 'params', 'result', 'error', '_meta', 'name', 'arguments', '__proto__', 'constructor'];
const LEAVES = ['2.0', 1, null, 'tools/call', 'initialize', 'notifications/initialized', 'echo', MODERN, true, 1e308, -0];

const value: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  any: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(...LEAVES),
    fc.array(tie('any'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...KEYS), tie('any'), { maxKeys: 5 }),
  ),
})).any;
const message = fc.record(
  { jsonrpc: fc.constant('2.0'), id: value, method: fc.constantFrom('tools/call', 'initialize', 'ping', 'x'), params: value },
  { requiredKeys: ['jsonrpc'] },
);
const body = fc.oneof(
  value.map((any) => JSON.stringify(any)),
  message.map((any) => JSON.stringify(any)),
  fc.string(),
  fc.constant(undefined),
);
const headers = fc.dictionary(fc.constantFrom(...NAMES), fc.constantFrom(...VALUES));

it('[ROBUSTNESS-4][ROBUSTNESS-5] answers every request that the web platform can make', async () => {
  const unhandled: unknown[] = [];
  const note = (error: unknown): number => unhandled.push(error);
  process.on('unhandledRejection', note);
  const served = createHttpHandler(new ScriptedEndpoint(), { path: '/mcp', sse: true, resourceMetadata: {}, maxBodyBytes: 2_000 });
  handler = served;
  const run = async (method: string, path: string, head: Readonly<Record<string, string>>, text: string | undefined): Promise<void> => {
    const sent = method === 'POST' || method === 'PUT' ? { body: text ?? '' } : {};
    const response = await served.fetch(
      new Request(`http://localhost${path}`, { method, headers: { 'content-type': 'application/json', ...head }, ...sent }),
    );
    expect(response.status).not.toBe(500);
    await response.body?.cancel();
  };
  await fc.assert(fc.asyncProperty(fc.constantFrom(...METHODS), fc.constantFrom(...PATHS), headers, body, run), { numRuns: 2_000 });
  process.off('unhandledRejection', note);
  expect([unhandled, served.counts.calls]).toEqual([[], 0]);
});
