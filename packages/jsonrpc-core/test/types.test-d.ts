/** What must compile and what must not; `tsc -p packages/jsonrpc-core` is the test. */

import { expectTypeOf } from 'vitest';
import {
  type AnyJsonRpcError,
  type Connectable,
  InMemoryTransport,
  type JsonObject,
  type JsonRpcMessage,
  type JsonRpcRequest,
  type JsonRpcResponse,
  type Transport,
} from '../src/index.ts';
import { isJsonRpcRequest, parseJson, withSerialized } from '../src/messages.ts';
import { type ExchangeTransport, isExchangeTransport, type TransportFactory } from '../src/transport.ts';
import { Connection, type InboundCall } from '../src/connection.ts';
import { withLogging, wrapTransport } from '../src/wrap.ts';

declare const transport: Transport;
declare const error: AnyJsonRpcError;
declare const unknownValue: unknown;
declare const both: Transport & TransportFactory;

// Codes narrow errors.
if (error.code === 'ERR_REMOTE') expectTypeOf(error.rpcCode).toEqualTypeOf<number>();
if (error.code === 'ERR_TIMEOUT') expectTypeOf(error.timeoutMs).toEqualTypeOf<number>();
// @ts-expect-error No error has this code.
if (error.code === 'ERR_NO_SUCH') throw error;

// Guards narrow.
if (isJsonRpcRequest(unknownValue)) expectTypeOf(unknownValue).toEqualTypeOf<JsonRpcRequest>();
if (isExchangeTransport(transport)) expectTypeOf(transport).toEqualTypeOf<Transport & ExchangeTransport>();
expectTypeOf(parseJson).parameter(0).toEqualTypeOf<string>();

// A connection.
const connection = new Connection(transport, {
  onRequest(request, call) {
    expectTypeOf(request).toEqualTypeOf<JsonRpcRequest>();
    expectTypeOf(call).toEqualTypeOf<InboundCall>();
    return { jsonrpc: '2.0', id: request.id, result: {} };
  },
});
expectTypeOf(connection.request('a')).resolves.toEqualTypeOf<JsonObject>();
expectTypeOf(connection.requests.requestRaw('a')).resolves.toEqualTypeOf<JsonRpcResponse>();
// @ts-expect-error A result is an object.
new Connection(transport, { onRequest: ({ id }) => ({ jsonrpc: '2.0', id, result: 42 }) });
// @ts-expect-error Params are by name.
void connection.request('a', [1]);
// @ts-expect-error A request's id is never null.
const badId: JsonRpcRequest = { jsonrpc: '2.0', id: null, method: 'a' };
// @ts-expect-error The version is 2.0.
const badVersion: JsonRpcMessage = { jsonrpc: '1.0', method: 'a' };
void [badId, badVersion];

// A transport with the six members of custom transports is a Transport, and nothing less.
class Custom {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JsonRpcMessage) => void;
  async start(): Promise<void> {}
  async send(_message: JsonRpcMessage): Promise<void> {}
  async close(): Promise<void> {}
}
expectTypeOf<InMemoryTransport>().toExtend<Transport>();
new Connection(new Custom() as Transport);
// @ts-expect-error It cannot send.
new Connection({ start: async () => {}, close: async () => {} });
// @ts-expect-error Pairs are made by createLinkedPair.
new InMemoryTransport({});

// Wrappers keep the type of what they wrap.
expectTypeOf(wrapTransport(both, {})).toEqualTypeOf<Transport & TransportFactory>();
expectTypeOf(withLogging(transport as Transport & ExchangeTransport, { logger: { log: () => {} } })).toEqualTypeOf<
  Transport & ExchangeTransport
>();
expectTypeOf(withSerialized({ tools: [] as string[] }, '')).toEqualTypeOf<{ tools: string[] }>();
expectTypeOf<Connectable['connect']>().parameter(0).toEqualTypeOf<Transport>();
