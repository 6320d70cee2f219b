import { describe, expect, it } from 'vitest';
import { MessageTooLargeError, ParseError, type Transport } from '../../src/index.ts';
import { batching, connectPair, connectToRawPeer, errorOf, request, result, turn } from '../support/raw-peer.ts';

/** What a transport does with a frame that it cannot read. */
function reportError(transport: Transport, error: Error): void {
  transport.onerror?.(error);
}

describe('garbage that arrives', () => {
  it('[ERR-001] is answered with -32700 when it is not JSON, and the next message is served', async () => {
    const { connection, peer, errors } = await connectToRawPeer({ onRequest: ({ id }) => result(id) });
    reportError(connection.transport, new ParseError('The text is not valid JSON'));
    await peer.send(request(1));
    expect(peer.take()).toEqual([errorOf(null, -32700), result(1)]);
    expect(errors).toEqual([expect.any(ParseError)]);
  });

  it.each(['work', 7])(
    '[ROBUSTNESS-7] is a request whose id is too long to be repeated, and is answered without it (method: %j)',
    async (method) => {
      let served = 0;
      const { peer } = await connectToRawPeer({ onRequest: ({ id }) => (served++, result(id)) });
      await peer.send({ jsonrpc: '2.0', id: 'x'.repeat(1025), method }, request('x'.repeat(1024)));
      expect(peer.take()).toEqual([errorOf(null, -32600), result('x'.repeat(1024))]);
      expect(served).toBe(1);
    },
  );

  it('[ERR-001] is answered with -32700 when a custom transport reports a SyntaxError', async () => {
    const { connection, peer } = await connectToRawPeer();
    reportError(connection.transport, new SyntaxError('Unexpected token'));
    await turn();
    expect(peer.take()).toEqual([errorOf(null, -32700)]);
  });

  it('is answered with -32600 that names the bound when it is too long', async () => {
    const { connection, peer } = await connectToRawPeer();
    reportError(connection.transport, new MessageTooLargeError(1024));
    await turn();
    expect(peer.take()).toEqual([
      { jsonrpc: '2.0', id: null, error: { code: -32600, message: expect.stringContaining('1024') as string } },
    ]);
  });

  it('is only reported when it is another failure of the transport', async () => {
    const { connection, peer, errors } = await connectToRawPeer();
    reportError(connection.transport, new Error('EPIPE'));
    await turn();
    expect(peer.take()).toEqual([]);
    expect(errors).toHaveLength(1);
  });

  it.each([
    ['no version', { id: 4, method: 'a' }, 4, -32600],
    ['an old version', { jsonrpc: '1.0', id: 4, method: 'a' }, 4, -32600],
    ['no method', { jsonrpc: '2.0', id: 4 }, 4, -32600],
    ['a method that is a number', { jsonrpc: '2.0', id: 'x', method: 7 }, 'x', -32600],
    ['an id beside nothing else', { id: 0 }, 0, -32600],
    ['params that are a text', { jsonrpc: '2.0', id: 4, method: 'a', params: 'b' }, 4, -32600],
    ['params in an array', { jsonrpc: '2.0', id: 4, method: 'a', params: [1] }, 4, -32602],
    ['a method beside a result', { jsonrpc: '2.0', id: 4, method: 'a', result: {} }, 4, -32600],
    ['a method that is a number and no id', { jsonrpc: '2.0', method: 1, params: 'bar' }, null, -32600],
    ['an empty object', {}, null, -32600],
    ['a text', 'a', null, -32600],
    ['null', null, null, -32600],
    ['a number', 1, null, -32600],
  ])('[ERR-001] is answered once, under its id where that can be read: %s', async (_what, value, id, code) => {
    const { peer, errors } = await connectToRawPeer({ onRequest: (message) => result(message.id) });
    await peer.send(value, request('next'));
    expect(peer.take()).toEqual([errorOf(id, code), result('next')]);
    expect(errors).toHaveLength(1);
  });

  it.each([null, 1.5, {}, [], true, 2 ** 60])('[BASE-005][BASE-009] is answered without an id when its id is %j', async (id) => {
    const { peer } = await connectToRawPeer();
    await peer.send(request(id));
    expect(peer.take()).toEqual([errorOf(null, -32600)]);
  });

  it('[BASE-009] is answered without an id member where the revision says so', async () => {
    const rules = { ...batching, isErrorIdOptional: true };
    const { peer } = await connectToRawPeer({ rules });
    await peer.send('garbage');
    rules.isErrorIdOptional = false;
    await peer.send('garbage');
    const [without, withNull] = peer.take();
    expect(without).not.toHaveProperty('id');
    expect(withNull).toHaveProperty('id', null);
  });

  it.each([
    ['a response without an outcome but an error', { jsonrpc: '2.0', id: 1, error: 'no' }],
    ['a response with a result that is no object', { jsonrpc: '2.0', id: 1, result: 1 }],
    ['a response with both outcomes', { jsonrpc: '2.0', id: 1, result: {}, error: { code: 1, message: 'a' } }],
    ['a response without a version', { id: 1, result: {} }],
    ['a notification with an odd version', { jsonrpc: '2', method: 'a' }],
    ['an error about garbage of ours', { jsonrpc: '2.0', id: null, error: { code: -32600, message: 'Invalid request' } }],
  ])('is reported and not answered when it is %s', async (_what, value) => {
    const { peer, errors } = await connectToRawPeer();
    await peer.send(value);
    expect(peer.take()).toEqual([]);
    expect(errors).toHaveLength(1);
  });

  it('[BASE-022][STDIO-006] is not answered by a side that sends no responses, while it sends none', async () => {
    const rules = { ...batching, isAnswering: false };
    const { connection, peer, errors } = await connectToRawPeer({ rules });
    reportError(connection.transport, new ParseError('no'));
    await peer.send('garbage', {}, [], [{}, request(1)], request(null));
    expect(peer.take()).toEqual([]);
    expect(errors).toHaveLength(7);
    expect(errors).toContainEqual(expect.objectContaining({ code: 'ERR_INVALID_REQUEST', id: 1 }));
    rules.isAnswering = true;
    await peer.send('garbage');
    expect(peer.take()).toEqual([errorOf(null, -32600)]);
  });

  it('[ROBUSTNESS-5] does no harm when it throws on being read', async () => {
    const { peer, errors } = await connectToRawPeer({ onRequest: ({ id }) => result(id) });
    const trap = (): never => {
      throw new Error('trap');
    };
    await peer.send(new Proxy({}, { get: trap, getOwnPropertyDescriptor: trap, has: trap }), request(1));
    expect(peer.take()).toEqual([result(1)]);
    expect(errors).toHaveLength(1);
  });

  it('does not send two connections round in circles', async () => {
    let errors = 0;
    const [one, other] = await connectPair({ onError: () => errors++ }, { onError: () => errors++ });
    reportError(one.transport, new ParseError('no'));
    reportError(other.transport, new ParseError('no'));
    await turn();
    await turn();
    expect(errors).toBe(4);
  });
});
