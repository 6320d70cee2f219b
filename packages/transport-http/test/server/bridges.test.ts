/** Requests and responses in the shape of `node:http` that something else has made, such as a bridge from `fetch`. */

import { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { expect, it } from 'vitest';
import { createHttpHandler } from '@mortise/transport-http/server';
import { modernHeaders, modernRequest } from '../support/modern.ts';
import { ScriptedEndpoint } from '../support/scripted-endpoint.ts';

/** What bridges do: nobody reads from a connection. */
class BridgeRequest extends IncomingMessage {
  override _read(): void {
    // All is there.
  }
}

/** Keeps what it is given, and is never connected. */
class BridgeResponse extends ServerResponse {
  body = '';

  override end(...args: unknown[]): this {
    this.body = String(args[0]);
    this.emit('finish');
    return this;
  }
}

function bridge(socket: Socket | null, name: string): { readonly request: IncomingMessage; readonly response: BridgeResponse } {
  const call = modernRequest('tools/call', { name });
  const request = new BridgeRequest(socket as Socket);
  const headers = { host: 'localhost', 'content-type': 'application/json', accept: 'application/json', ...modernHeaders(call) };
  Object.assign(request, { method: 'POST', url: '/mcp', headers, body: call });
  return { request, response: new BridgeResponse(request) };
}

it('serves a request that came over no connection', async () => {
  const handler = createHttpHandler(new ScriptedEndpoint());
  const { request, response } = bridge(null, 'echo');
  await handler.node(request, response);
  expect([response.statusCode, JSON.parse(response.body)]).toMatchObject([200, { result: { content: [{ text: '{}' }] } }]);
  await handler.close();
});
