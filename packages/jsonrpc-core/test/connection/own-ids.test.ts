import { expect, it, onTestFinished } from 'vitest';
import { Connection } from '../../src/connection.ts';
import { createInMemoryPair, type JsonRpcMessage } from '../../src/index.ts';

it('sends requests under the ids that the program makes, and matches their responses', async () => {
  const [near, far] = createInMemoryPair();
  const ids: unknown[] = [];
  far.onmessage = (message: JsonRpcMessage) => {
    if (!('id' in message) || message.id === undefined) return;
    ids.push(message.id);
    void far.send({ jsonrpc: '2.0', id: message.id, result: { echo: message.id } });
  };
  await far.start();
  let next = 0;
  const connection = new Connection(near, { newId: () => `mine-${next++}` });
  await connection.start();
  onTestFinished(() => connection.close());
  expect(await Promise.all([connection.request('a'), connection.request('b')])).toEqual([{ echo: 'mine-0' }, { echo: 'mine-1' }]);
  expect(ids).toEqual(['mine-0', 'mine-1']);
});
