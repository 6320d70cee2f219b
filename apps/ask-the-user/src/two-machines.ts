/**
 * Two servers behind one address, and each request goes to the other one. What a call has asked and done travels with it, sealed under
 * a key that both have; so neither needs to know what the other one did.
 */

import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type HttpServing, serveHttp } from '@mortise/transport-http/node';
import { createTripServer, type Desk } from './trip-server.ts';

export interface TwoMachines {
  readonly url: string;
  /** How many requests each of them got. */
  readonly served: readonly [number, number];
  close(): Promise<void>;
}

export async function serveTwoMachines(desk: Desk): Promise<TwoMachines> {
  const keys = [crypto.getRandomValues(new Uint8Array(32))];
  const machine = (): Promise<HttpServing> => serveHttp(createTripServer(desk, { requestState: { keys } }), { port: 0 });
  const machines = [await machine(), await machine()] as const;
  const served: [number, number] = [0, 0];
  let turn = 0;
  const balancer = createServer((incoming, outgoing) => {
    const next = turn++ % 2 === 0 ? 0 : 1;
    served[next] += 1;
    forward(incoming, outgoing, machines[next].port);
  });
  await new Promise<void>((resolve) => balancer.listen(0, '127.0.0.1', resolve));
  const { port } = balancer.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    served,
    async close() {
      balancer.closeAllConnections();
      await new Promise((resolve) => balancer.close(resolve));
      await Promise.all(machines.map((each) => each.close()));
    },
  };
}

function forward(incoming: IncomingMessage, outgoing: ServerResponse, port: number): void {
  const onward = request({ host: '127.0.0.1', port, path: incoming.url, method: incoming.method, headers: incoming.headers }, (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(outgoing);
  });
  onward.on('error', () => outgoing.destroy());
  outgoing.on('close', () => onward.destroy());
  incoming.pipe(onward);
}
