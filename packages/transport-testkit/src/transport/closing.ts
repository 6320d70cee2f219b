/** Test cases for T4 and T7 of `Transport`: `onclose` is called once, whichever side closes the transport, and `close` always resolves. */

import { checkEqual, turns, within } from '../check.ts';
import { type End, Listener, note, startBoth, type TransportCase, type TransportPair, upTo } from './transport-case.ts';

async function closesOnce(pair: TransportPair, closing: End): Promise<void> {
  const ends = [new Listener(pair.client), new Listener(pair.server)];
  await startBoth(pair);
  await within(pair[closing].close(), 'close should resolve');
  await Promise.all(ends.map((end) => end.hasClosed()));
  await Promise.all([pair.client.close(), pair.server.close()]);
  await turns(10);
  checkEqual(
    ends.map((end) => end.closeCount),
    [1, 1],
    'The calls of onclose at the client and the server',
  );
}

async function arrivesBeforeTheEnd(pair: TransportPair, closing: End): Promise<void> {
  const other: End = closing === 'client' ? 'server' : 'client';
  const listener = new Listener(pair[other]);
  await startBoth(pair);
  await Promise.all(upTo(20).map((n) => pair[closing].send(note(n))));
  await pair[closing].close();
  await listener.hasClosed();
  await turns(10);
  checkEqual(listener.lateCount, 0, 'The messages delivered after onclose');
  checkEqual(listener.numbers, upTo(20), 'What was sent before close and has arrived');
  checkEqual(listener.closeCount, 1, 'The calls of onclose');
}

export const closingCases: readonly TransportCase[] = [
  { id: 'T4.1', title: 'calls onclose once on both ends when the client closes', run: (pair) => closesOnce(pair, 'client') },
  { id: 'T4.2', title: 'calls onclose once on both ends when the server closes', run: (pair) => closesOnce(pair, 'server') },
  {
    id: 'T4.3',
    title: 'delivers what the client sent before it closed, and then calls onclose',
    run: (pair) => arrivesBeforeTheEnd(pair, 'client'),
  },
  {
    id: 'T4.4',
    title: 'delivers what the server sent before it closed, and then calls onclose',
    run: (pair) => arrivesBeforeTheEnd(pair, 'server'),
  },
  {
    id: 'T4.5',
    title: 'calls onclose once when it closes while sends are pending',
    async run(pair) {
      const ends = [new Listener(pair.client), new Listener(pair.server)];
      await startBoth(pair);
      const sends = upTo(200).map((n) => pair.client.send(note(n, { pad: 'x'.repeat(10_000) })).catch(() => undefined));
      await Promise.all([pair.client.close(), pair.server.close()]);
      await within(Promise.all(sends), 'Every send should settle when the transport closes');
      await turns(10);
      checkEqual(
        ends.map((end) => end.closeCount),
        [1, 1],
        'The calls of onclose at the client and the server',
      );
      checkEqual(
        ends.map((end) => end.lateCount),
        [0, 0],
        'The messages delivered after onclose',
      );
    },
  },
  {
    id: 'T4.6',
    title: 'delivers nothing more once it was closed from within onmessage',
    async run(pair) {
      let closing: Promise<void> | undefined;
      const listener = new Listener(pair.server, () => {
        closing ??= pair.server.close();
      });
      await startBoth(pair);
      await Promise.allSettled(upTo(20).map((n) => pair.client.send(note(n))));
      await listener.hasClosed();
      await closing;
      await turns(10);
      checkEqual(listener.lateCount, 0, 'The messages delivered after onclose');
      checkEqual(listener.closeCount, 1, 'The calls of onclose');
    },
  },
  {
    id: 'T7.1',
    title: 'resolves close before start',
    async run(pair) {
      await within(Promise.all([pair.client.close(), pair.server.close()]), 'close before start should resolve');
    },
  },
  {
    id: 'T7.2',
    title: 'resolves close called twice, at once and later',
    async run(pair) {
      const listener = new Listener(pair.client);
      await startBoth(pair);
      await within(Promise.all([pair.client.close(), pair.client.close()]), 'Two calls of close should resolve');
      await within(pair.client.close(), 'A later call of close should resolve');
      await turns(5);
      checkEqual(listener.closeCount, 1, 'The calls of onclose');
    },
  },
  {
    id: 'T7.3',
    title: 'resolves close during start',
    async run(pair) {
      const starting = pair.client.start().catch(() => undefined);
      await within(pair.client.close(), 'close during start should resolve');
      await within(starting, 'start should settle when it is closed meanwhile');
    },
  },
  {
    id: 'T7.4',
    title: 'resolves close after the peer has closed',
    async run(pair) {
      const listener = new Listener(pair.client);
      await startBoth(pair);
      await pair.server.close();
      await listener.hasClosed();
      await within(pair.client.close(), 'close after the end should resolve');
      await turns(5);
      checkEqual(listener.closeCount, 1, 'The calls of onclose');
    },
  },
];
