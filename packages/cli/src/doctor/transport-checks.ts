/** Checks of HTTP (headers, status, origins, authorization) and of standard streams. */

import { checkedFetch } from '@mortise/auth-oauth/node';
import type { JsonObject } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import { HEADER_MISMATCH } from '@mortise/protocol/wire';
import { METHOD_HEADER, PROTOCOL_VERSION_HEADER, SESSION_ID_HEADER } from '@mortise/transport-http';
import { type Check, expectError, expectStatus } from './check.ts';
import type { ProgramWire } from './channel-wires.ts';
import { type Dialogue, toInitialize } from './dialogue.ts';
import type { HttpWire } from './http-wire.ts';
import type { Reply } from './wire.ts';

/** Posts a request that both eras answer, with other headers than it should have; undefined leaves a header out. */
function postWith(dialogue: Dialogue, wire: HttpWire, changes: Readonly<Record<string, string | undefined>>): Promise<Reply> {
  const method = dialogue.era === 'modern' ? 'server/discover' : 'ping';
  const message: JsonObject = { jsonrpc: '2.0', id: 'doctor', method, params: dialogue.withMeta({}) };
  const headers = Object.entries({ ...wire.headersOf(message), ...changes }).filter(
    (header): header is [string, string] => header[1] !== undefined,
  );
  return wire.post(JSON.stringify(message), Object.fromEntries(headers));
}

export const HTTP_CHECKS: readonly Check<HttpWire>[] = [
  {
    row: 'HTTP-002',
    rule: 'a request of a foreign web page (its Origin) is refused with 403',
    remedy: 'check the Origin header against a list, or a page in the browser of your user can call the server (DNS rebinding)',
    run: async (dialogue, wire) => expectStatus(await postWith(dialogue, wire, { origin: 'https://mortise-doctor.invalid' }), 403),
  },
  {
    row: 'HTTP-010',
    rule: 'a body that is not JSON is refused with a status from 400 to 499',
    remedy: 'answer 400 with a JSON-RPC error -32700',
    run: async (_dialogue, wire) => {
      const { status } = await wire.sendText('{"jsonrpc": "2.0", ');
      return status !== undefined && status >= 400 && status < 500 ? undefined : `it answered with ${status ?? 'nothing'}`;
    },
  },
  {
    row: 'HTTP-009',
    era: 'legacy',
    rule: 'a notification is answered with 202 and no body',
    remedy: 'answer 202 without a body',
    run: async (_dialogue, wire) => {
      const reply = await wire.send({ jsonrpc: '2.0', method: 'notifications/mortise-unknown' });
      return expectStatus(reply, 202) ?? (reply.message === undefined ? undefined : 'it sent a body');
    },
  },
  {
    row: 'HTTP-021',
    era: 'legacy',
    rule: 'GET opens an event stream, or is refused with 405',
    remedy: 'answer 405 if you have no stream to offer',
    run: async (_dialogue, wire) => {
      const reply = await wire.openStream('text/event-stream');
      return expectStatus(reply, 200, 405);
    },
  },
  {
    row: 'HTTP-027',
    era: 'legacy',
    rule: 'an unknown MCP-Protocol-Version is refused with 400',
    remedy: 'answer 400 for a version that you do not speak',
    run: async (dialogue, wire) => expectStatus(await postWith(dialogue, wire, { [PROTOCOL_VERSION_HEADER]: '1999-01-01' }), 400),
  },
  {
    row: 'HTTP-044',
    era: 'legacy',
    rule: 'a session that does not exist is refused with 404',
    remedy: 'answer 404: clients then open a new session',
    run: async (dialogue, wire) => {
      if (!wire.hasSession) return undefined;
      return expectStatus(await postWith(dialogue, wire, { [SESSION_ID_HEADER]: 'mortise-no-such-session' }), 404);
    },
  },
  {
    row: 'HTTP-039',
    era: 'legacy',
    rule: 'ids of sessions are long, and not the same twice',
    remedy: 'take a random id of at least 128 bits, such as crypto.randomUUID()',
    run: async ({ version }, wire) => {
      if (!wire.hasSession) return undefined;
      const [one, two] = [await openSession(wire, version), await openSession(wire, version)];
      if (one === two) return 'two sessions have the same id';
      return one.length >= 16 ? undefined : `an id has ${one.length} characters`;
    },
  },
  {
    row: 'HDR-008',
    era: 'modern',
    rule: 'a request whose Mcp-Method differs from its body is refused with 400 and -32020',
    remedy: 'compare the headers with the body',
    run: async (dialogue, wire) => {
      const reply = await postWith(dialogue, wire, { [METHOD_HEADER]: 'tools/list' });
      return expectStatus(reply, 400) ?? expectError(reply, HEADER_MISMATCH);
    },
  },
  {
    row: 'HDR-009',
    era: 'modern',
    rule: 'a request without Mcp-Method is refused with 400 and -32020',
    remedy: 'demand the headers that the revision demands',
    run: async (dialogue, wire) => {
      const reply = await postWith(dialogue, wire, { [METHOD_HEADER]: undefined });
      return expectStatus(reply, 400) ?? expectError(reply, HEADER_MISMATCH);
    },
  },
  {
    row: 'HTTPM-006',
    era: 'modern',
    rule: 'an unknown method has the HTTP status 404',
    remedy: 'answer 404 beside -32601',
    run: async (dialogue) => expectStatus(await dialogue.ask('mortise/no-such-method'), 404),
  },
];

/** Opens a session and deletes it. @returns Its id. */
async function openSession(wire: HttpWire, version: string): Promise<string> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: toInitialize(version) });
  const { headers } = await wire.post(body, {}, 1);
  const id = headers?.get(SESSION_ID_HEADER) ?? '';
  await wire.request({ method: 'DELETE', headers: { [SESSION_ID_HEADER]: id, [PROTOCOL_VERSION_HEADER]: version } });
  return id;
}

/** What a server that answers 401 must say, before any era is known. @returns What is wrong. */
export async function checkAuthorization(wire: HttpWire): Promise<string | undefined> {
  const reply = await wire.post(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }), {});
  const challenge = reply.headers?.get('www-authenticate') ?? '';
  const named = /resource_metadata="([^"]+)"/.exec(challenge)?.[1];
  const { origin, pathname } = new URL(wire.url);
  const places = [
    named,
    `${origin}/.well-known/oauth-protected-resource${pathname === '/' ? '' : pathname}`,
    `${origin}/.well-known/oauth-protected-resource`,
  ];
  for (const place of places.filter((one) => one !== undefined)) {
    const metadata = await readJson(place, wire.url);
    if (metadata === undefined) continue;
    const servers = metadata['authorization_servers'];
    return Array.isArray(servers) && servers.length > 0 ? undefined : `${place} names no authorization server`;
  }
  return 'neither WWW-Authenticate nor a well-known address leads to its resource metadata';
}

/** The server names the address, so it is checked as the client checks it. */
async function readJson(url: string, server: string): Promise<JsonObject | undefined> {
  try {
    const response = await checkedFetch(server)(url, { signal: AbortSignal.timeout(10_000) });
    const value: unknown = response.ok ? await response.json() : undefined;
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** How long a program may take to end once its input has ended, in milliseconds. */
const EXIT_MS = 5000;

/** What is tried last over standard streams: the program may not survive it. */
export const PROGRAM_CHECKS: readonly Check<ProgramWire>[] = [
  {
    row: 'STDIO-002',
    rule: 'standard output carries nothing but messages',
    remedy: 'write logs to standard error: console.error in place of console.log',
    run: async (_dialogue, wire) => {
      const text = wire.strays.find((stray) => !stray.startsWith('{'));
      return text === undefined ? undefined : `it wrote ${text}`;
    },
  },
  {
    row: 'ROBUSTNESS-2',
    rule: 'a line that is not JSON, or nested 100,000 deep, does not end the server',
    remedy: 'answer -32700 (or nothing) and read on',
    run: async (dialogue, wire) => {
      for (const text of ['this is not JSON', '['.repeat(100_000)]) {
        wire.sendText(text);
        const { message } = await dialogue.ask(dialogue.era === 'modern' ? 'server/discover' : 'ping');
        if (!message) return `it answers nothing after ${text.slice(0, 16)}`;
      }
      return undefined;
    },
  },
];

/** What ends a program. */
export const END_CHECK: Check<ProgramWire> = {
  row: 'STDIO-013',
  isAdvice: true,
  rule: 'the program ends when its standard input ends',
  remedy: 'end the process when stdin ends, or it stays behind as an orphan',
  run: async (_dialogue, wire) => ((await wire.endInput(EXIT_MS)) ? undefined : `it still ran ${EXIT_MS / 1000} s later`),
};
