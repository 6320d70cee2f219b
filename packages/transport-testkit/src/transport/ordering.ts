/** Test cases for T2, T11 and T13 of `Transport`: messages arrive in order, once, and only at the other end of the transport. */

import { check, checkEqual, turns } from '../check.ts';
import { type End, Listener, note, startBoth, type TransportCase, type TransportPair, upTo } from './transport-case.ts';

async function arriveInOrder(pair: TransportPair, to: End, count: number): Promise<void> {
  const from: End = to === 'client' ? 'server' : 'client';
  const listener = new Listener(pair[to]);
  await startBoth(pair);
  const sent = upTo(count).map((n) => pair[from].send(note(n)));
  await listener.hasMessages(count);
  await Promise.all(sent);
  await turns(5);
  checkEqual(listener.messages.length, count, 'The number of messages that arrive');
  const misplaced = listener.numbers.findIndex((n, index) => n !== index);
  check(misplaced === -1, `Message ${misplaced} should be number ${misplaced}, but is number ${listener.numbers[misplaced]}`);
}

export const orderingCases: readonly TransportCase[] = [
  {
    id: 'T2.1',
    title: 'delivers to the server in the order of sending',
    run: (pair) => arriveInOrder(pair, 'server', 200),
  },
  {
    id: 'T2.2',
    title: 'delivers to the client in the order of sending',
    run: (pair) => arriveInOrder(pair, 'client', 200),
  },
  {
    id: 'T2.3',
    title: 'keeps the order when short messages follow long ones, in both directions at once',
    async run(pair) {
      const ends = { client: new Listener(pair.client), server: new Listener(pair.server) };
      await startBoth(pair);
      const pad = 'x'.repeat(100_000);
      const sent = upTo(20).flatMap((n) => {
        const message = note(n, n % 2 === 0 ? { pad } : {});
        return [pair.client.send(message), pair.server.send(message)];
      });
      await Promise.all([ends.client.hasMessages(20), ends.server.hasMessages(20), ...sent]);
      checkEqual(ends.client.numbers, upTo(20), 'The order at the client');
      checkEqual(ends.server.numbers, upTo(20), 'The order at the server');
    },
  },
  {
    id: 'T2.4',
    title: 'delivers one message at a time',
    async run(pair) {
      let depth = 0;
      let deepest = 0;
      const listener = new Listener(pair.server, (message) => {
        deepest = Math.max(deepest, ++depth);
        // Sending from within a callback must not deliver from within it.
        void pair.server.send(message);
        depth--;
      });
      const echo = new Listener(pair.client, (message) => {
        if (echo.messages.length < 10) void pair.client.send(message);
      });
      await startBoth(pair);
      await pair.client.send(note(0));
      await echo.hasMessages(10);
      checkEqual(deepest, 1, 'How many deliveries run within one another');
      check(listener.messages.length >= 10, 'Every message should have come back');
    },
  },
  {
    id: 'T11.1',
    title: 'delivers 10,000 messages in a row to the server, in order, none twice',
    run: (pair) => arriveInOrder(pair, 'server', 10_000),
  },
  {
    id: 'T11.2',
    title: 'delivers 10,000 messages in a row to the client, in order, none twice',
    run: (pair) => arriveInOrder(pair, 'client', 10_000),
  },
  {
    id: 'T13.1',
    title: 'keeps the messages of two pairs apart',
    async run(pair, setup) {
      const other = await setup.create();
      try {
        const listeners = [new Listener(pair.server), new Listener(pair.client), new Listener(other.server), new Listener(other.client)];
        await startBoth(pair);
        await startBoth(other);
        const senders = [pair.client, pair.server, other.client, other.server];
        await Promise.all(senders.flatMap((sender, index) => upTo(20).map((n) => sender.send(note(100 * index + n)))));
        await Promise.all(listeners.map((listener) => listener.hasMessages(20)));
        await turns(5);
        const expected = listeners.map((_, index) => upTo(20).map((n) => 100 * index + n));
        checkEqual(
          listeners.map((listener) => listener.numbers),
          expected,
          'What the four ends of two pairs receive',
        );
      } finally {
        await other.close();
      }
    },
  },
  {
    id: 'T13.2',
    title: 'keeps one pair open when another closes',
    async run(pair, setup) {
      const other = await setup.create();
      await startBoth(other);
      const listener = new Listener(pair.server);
      await startBoth(pair);
      await other.close();
      await pair.client.send(note(1));
      await listener.hasMessages(1);
      checkEqual(listener.closeCount, 0, 'The calls of onclose on a pair that was not closed');
    },
  },
];
