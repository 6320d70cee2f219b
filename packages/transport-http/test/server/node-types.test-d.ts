import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, expectTypeOf, it } from 'vitest';
import type { HttpHandler } from '../../src/server.ts';

type Anything = ReturnType<typeof JSON.parse>;
/** `on` as @types/node declares it from version 26 on: by a table of events, and loosely for all others. */
interface OnByTable {
  <E extends 'data' | 'end'>(event: E, listener: (...args: { data: [chunk: Anything]; end: [] }[E]) => void): unknown;
  (event: string | symbol, listener: (...args: Anything[]) => void): unknown;
}

describe('the listener for node:http', () => {
  it('takes the requests and responses of every version of the types of Node', () => {
    type Node = HttpHandler['node'];
    expectTypeOf<IncomingMessage>().toExtend<Parameters<Node>[0]>();
    expectTypeOf<ServerResponse>().toExtend<Parameters<Node>[1]>();
    expectTypeOf<Omit<IncomingMessage, 'on'> & { readonly on: OnByTable }>().toExtend<Parameters<Node>[0]>();
    expectTypeOf<Omit<ServerResponse, 'on'> & { readonly on: OnByTable }>().toExtend<Parameters<Node>[1]>();
  });
});
