/** The kits of `@mortise/transport-testkit`, run as anyone else would run them. */

import { AsyncLocalStorage } from 'node:async_hooks';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { JsonObject, JsonRpcRequest } from '@mortise/jsonrpc-core';
import type { ExchangeTransport } from '@mortise/jsonrpc-core/transport';
import { NEWEST } from '@mortise/protocol';
import type { McpEndpoint } from '@mortise/protocol/contracts';
import { httpTransport } from '@mortise/transport-http/client';
import { createHttpHandler } from '@mortise/transport-http/server';
import { type AnswerExchange, type ExchangePair, setPatience, toKitSetup, transportCases } from '@mortise/transport-testkit';
import { describeExchange, describeKit } from '@mortise/transport-testkit/vitest';
import { describe } from 'vitest';
import { SENDERS } from './client/support/senders.ts';
import { createLegacyPair } from './support/legacy-pair.ts';

// Reached only where something never happens: real sockets on a busy machine take their time.
setPatience(60_000);

/** Each message of a client is a request of HTTP: what these cases ask for is answered there, or takes ten thousand of them. */
const NOT_OVER_HTTP: ReadonlySet<string> = new Set([
  // A session begins with an answer of its server: no client is ready before that.
  'T1.1',
  // A body that is too long is refused with 413, which its sender is told; `limits.test.ts` shows it.
  'T6.1',
  // What is too long for the client ends the stream, not the session; `hostile-server.test.ts` shows it.
  'T6.2',
  // `mcp-server.test.ts` shows two thousand calls at once, `npm run robustness` ten thousand.
  'T11.1',
]);

const META: JsonObject = {
  'io.modelcontextprotocol/protocolVersion': NEWEST.version,
  'io.modelcontextprotocol/clientCapabilities': {},
};

/** The connection that a request came over, for the peer that ends it in the middle. */
const connections = new AsyncLocalStorage<ServerResponse>();

function withoutMeta({ params, ...request }: JsonRpcRequest): JsonRpcRequest {
  const { _meta, ...rest } = params ?? {};
  return { ...request, params: rest };
}

/** An endpoint that is answered for by the kit. */
function endpointOf(answer: AnswerExchange): McpEndpoint {
  const refuse = (): never => {
    throw new Error('not asked for by the kit');
  };
  return {
    handle: (request, call) => {
      const response = connections.getStore();
      return answer(withoutMeta(request), {
        signal: call.signal,
        notify: (message) => call.send(message),
        cut: () => void response?.destroy(),
      });
    },
    openSession: refuse,
    paramHeaders: () => undefined,
    nameParam: () => undefined,
  };
}

async function createPair(answer: AnswerExchange, options: (typeof SENDERS)[number]['options']): Promise<ExchangePair> {
  const handler = createHttpHandler(endpointOf(answer));
  const server = createServer((request, response) => void connections.run(response, () => handler.node(request, response)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const transport = httpTransport(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, options);
  // Over HTTP a modern request says its version, which the kit leaves to the client.
  const client: ExchangeTransport = {
    exchange: (request, more) => transport.exchange({ ...request, params: { ...request.params, _meta: META } }, more),
  };
  const close = async (): Promise<void> => {
    await transport.close();
    await handler.close({ drainMs: 0 });
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { client, close };
}

describe.each(SENDERS)('over $name', ({ options }) => {
  describeExchange('httpTransport', { traits: { cut: true }, createPair: (answer) => createPair(answer, options) });

  describeKit(
    'a legacy session',
    transportCases.filter(({ id }) => !NOT_OVER_HTTP.has(id)),
    toKitSetup({ traits: { bound: true, handles: true }, createPair: (more) => createLegacyPair({ ...options, ...more }) }),
  );
});
