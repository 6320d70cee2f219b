/** Messages that are not read because they are over a bound: whoever waits for one is told. */

import { describe, expect, it } from 'vitest';
import { InvalidResponseError } from '../../src/index.ts';
import { parseJson, readMessageHead } from '../../src/messages.ts';
import { connectToRawPeer, errorOf, outcomeOf, turn } from '../support/raw-peer.ts';

const deep = `${'['.repeat(200)}${']'.repeat(200)}`;

function errorFor(text: string): Error {
  try {
    parseJson(text);
  } catch (error) {
    return error as Error;
  }
  throw new Error('It was read');
}

describe('a message that is over a bound', () => {
  it.each([
    ['before its result', `{"jsonrpc":"2.0","id":1,"result":{"x":${deep}}}`],
    ['first', `{ "id": 1, "jsonrpc": "2.0", "result": {"x":${deep}}}`],
    ['before its error', `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"a","data":${deep}}}`],
    ['at its end', `{"result":{"x":${deep}},"jsonrpc":"2.0","id":1}`],
    ['before the version at its end', `{"result":{"x":${deep}},"id":1,"jsonrpc":"2.0"}`],
  ])('[ROBUSTNESS-4] fails the call that it answers at once where its id stands %s', async (_where, text) => {
    const { connection, peer } = await connectToRawPeer();
    const outcome = outcomeOf(connection.request('tools/call'));
    await turn();
    peer.take();
    const cause = errorFor(text);
    connection.transport.onerror?.(cause);
    const { error } = (await outcome) as { error: InvalidResponseError };
    expect(error).toBeInstanceOf(InvalidResponseError);
    expect(error.message).toMatch(/^The response to "tools\/call" cannot be read: .*nests more than 128 levels deep/);
    expect(error.cause).toBe(cause);
    await turn();
    expect(peer.take()).toEqual([]);
  });

  it.each([
    ['', `{"jsonrpc":"2.0","id":"x","method":"a","params":{"x":${deep}}}`],
    [' at its end', `{"method":"a","params":{"result":1,"x":${deep}},"jsonrpc":"2.0","id":"x"}`],
  ])('[ROBUSTNESS-4] is answered under its id%s when it is a request', async (_where, text) => {
    const { connection, peer } = await connectToRawPeer();
    connection.transport.onerror?.(errorFor(text));
    await turn();
    const answers = peer.take();
    expect(answers).toEqual([errorOf('x', -32700)]);
    expect(answers).toMatchObject([{ error: { message: expect.stringContaining('nests more than 128 levels deep') as string } }]);
  });
});

describe('readMessageHead', () => {
  it.each([
    ['{"jsonrpc":"2.0","id":7,"result":{', '', { kind: 'response', id: 7 }],
    ['{"jsonrpc":"2.0","id":"a\\"b","error":{', '', { kind: 'response', id: 'a"b' }],
    ['{"result":{"content":[', ' "x"]},"jsonrpc":"2.0","id":7}', { kind: 'response', id: 7 }],
    ['{"result":{"text":"', ',\\"id\\":9}"},"id":7 }\n', { kind: 'response', id: 7 }],
    ['{"method":"a","id":-1,"params":{', '', { kind: 'request', id: -1 }],
    ['{"method":"a","params":{"result":', '},"id":3}', { kind: 'request', id: 3 }],
    ['{"result":{"text":"', ',\\"id\\":9}"}}', undefined],
    ['{"result":{"id":5,"x":', '{"id":9}}}', undefined],
    ['{"jsonrpc":"2.0","id":7.5,"result":{', '', undefined],
    ['{"jsonrpc":"2.0","id":null,"error":{', '', undefined],
    ['{"id":7,"other":{', '', undefined],
    ['[{"id":7,"result":{', '', undefined],
    ['printed {"id":7,"result":{', '', undefined],
    [`{"jsonrpc":"2.0",${' '.repeat(2000)}"id":7,"result":{`, '', undefined],
  ] as const)('reads %j ... %j as %j', (start, end, head) => {
    expect(readMessageHead(start, end)).toEqual(head);
  });
});
