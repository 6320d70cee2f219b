/** Requests and responses in the shape of `node:http` that something else has made, such as a bridge from `fetch`. */

import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { expect, it } from 'vitest';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import { createHttpHandler } from '@mortise/transport-http/server';
import { modernHeaders, modernRequest } from '../support/modern.ts';
import { gate, ScriptedEndpoint, text, until } from '../support/scripted-endpoint.ts';

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

it('watches a response without a connection no longer than until it is complete', async () => {
  const clock = new FakeClock();
  const endpoint = new ScriptedEndpoint();
  const go = gate();
  endpoint.tools.set('wait', async () => {
    await go.promise;
    return text('done');
  });
  const handler = createHttpHandler(endpoint, { clock, stallMs: 7_000 });
  const { request, response } = bridge(new Socket(), 'wait');
  const served = handler.node(request, response);
  await until(() => handler.counts.calls === 1);
  expect(clock.delaysMs).toContain(7_000);
  go.open();
  await served;
  expect([response.body.includes('done'), clock.delaysMs]).toEqual([true, []]);
  await handler.close();
});
