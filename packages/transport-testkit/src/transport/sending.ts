/** Test cases for T3 and T12 of `Transport`: the promise of a transport's `send` always settles, and waits for a slow reader. */

import { check, checkEqual, checkRejects, settlesWithin, turns, within } from '../check.ts';
import { type End, Listener, note, numberOf, startBoth, type TransportCase, type TransportPair } from './transport-case.ts';

/** How many messages of 32 KiB a transport may buffer for a peer that does not read: far more than any pipe, socket or queue holds. */
const MOST_MESSAGES = 4096;
const PAD = 'x'.repeat(32 * 1024);

/** Sends messages to an end that does not read them, until a `send` waits. */
async function sendUntilItWaits(pair: TransportPair, from: End): Promise<{ readonly waiting: Promise<void>; readonly count: number }> {
  for (let count = 1; count <= MOST_MESSAGES; count++) {
    const sent = pair[from].send(note(count - 1, { pad: PAD }));
    if (!(await settlesWithin(sent, 20))) return { waiting: sent, count };
    await sent;
  }
  check(false, `send should wait when the peer does not read, but took ${MOST_MESSAGES} messages of 32 KiB`);
}

async function waitsForReader(pair: TransportPair, from: End): Promise<void> {
  const to: End = from === 'client' ? 'server' : 'client';
  const listener = new Listener(pair[to]);
  await pair[from].start();
  const { waiting, count } = await sendUntilItWaits(pair, from);
  await pair[to].start();
  await within(waiting, 'A send that waits should settle once the peer reads');
  await listener.until(
    () => listener.messages.length >= count,
    () => `All ${count} messages should arrive once the peer reads`,
  );
  const misplaced = listener.messages.findIndex((message, index) => numberOf(message) !== index);
  checkEqual(misplaced, -1, 'The first message out of order');
}

export const sendingCases: readonly TransportCase[] = [
  {
    id: 'T3.1',
    title: 'resolves send when the peer reads',
    async run(pair) {
      const listener = new Listener(pair.server);
      await startBoth(pair);
      await within(pair.client.send(note(0)), 'send should resolve');
      await listener.hasMessages(1);
    },
  },
  {
    id: 'T3.2',
    title: 'rejects send before start',
    async run(pair) {
      await checkRejects(pair.client.send(note(0)), 'send before start');
    },
  },
  {
    id: 'T3.3',
    title: 'rejects send after close',
    async run(pair) {
      await startBoth(pair);
      await pair.client.close();
      await checkRejects(pair.client.send(note(0)), 'send after close');
    },
  },
  {
    id: 'T3.4',
    title: 'rejects send after onclose',
    async run(pair) {
      const listener = new Listener(pair.client);
      await startBoth(pair);
      await pair.server.close();
      await listener.hasClosed();
      await checkRejects(pair.client.send(note(0)), 'send after onclose');
    },
  },
  {
    id: 'T3.5',
    title: 'settles a send that waits when its own end closes',
    needs: ['backpressure'],
    async run(pair) {
      await pair.client.start();
      const { waiting } = await sendUntilItWaits(pair, 'client');
      const settled = waiting.then(
        () => undefined,
        () => undefined,
      );
      await within(pair.client.close(), 'close should resolve while a send waits');
      await within(settled, 'A send that waits should settle when its end closes');
    },
  },
  {
    id: 'T12.1',
    title: "lets the client's send wait while the server does not read",
    needs: ['backpressure'],
    run: (pair) => waitsForReader(pair, 'client'),
  },
  {
    id: 'T12.2',
    title: "lets the server's send wait while the client does not read",
    needs: ['backpressure', 'independentStart'],
    run: (pair) => waitsForReader(pair, 'server'),
  },
  {
    id: 'T12.3',
    title: 'does not wait for a reader that keeps up',
    needs: ['backpressure'],
    async run(pair) {
      const listener = new Listener(pair.server);
      await startBoth(pair);
      for (let n = 0; n < 50; n++) await within(pair.client.send(note(n, { pad: PAD })), `send ${n} should resolve while the peer reads`);
      await listener.hasMessages(50);
      await turns(1);
    },
  },
];
