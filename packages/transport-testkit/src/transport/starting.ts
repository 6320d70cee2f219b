/** Test cases for T1 of `Transport`: a transport delivers no message before its `start`. */

import { checkEqual, checkRejects, turns } from '../check.ts';
import { type End, Listener, note, startBoth, type TransportCase, type TransportPair } from './transport-case.ts';

async function holdsBack(pair: TransportPair, late: End): Promise<void> {
  const early: End = late === 'client' ? 'server' : 'client';
  const listener = new Listener(pair[late]);
  await pair[early].start();
  const sent = Promise.all([pair[early].send(note(0)), pair[early].send(note(1))]);
  await turns(20);
  checkEqual(listener.messages, [], 'What is delivered before start');
  await pair[late].start();
  await listener.hasMessages(2);
  checkEqual(listener.numbers, [0, 1], 'What is delivered after start');
  await sent;
}

export const startingCases: readonly TransportCase[] = [
  {
    id: 'T1.1',
    title: 'delivers nothing to the server before its start, and afterwards what arrived earlier',
    run: (pair) => holdsBack(pair, 'server'),
  },
  {
    id: 'T1.2',
    title: 'delivers nothing to the client before its start, and afterwards what arrived earlier',
    needs: ['independentStart'],
    run: (pair) => holdsBack(pair, 'client'),
  },
  {
    id: 'T1.3',
    title: 'rejects a second start and continues to work',
    async run(pair) {
      const listener = new Listener(pair.server);
      await startBoth(pair);
      await checkRejects(pair.client.start(), 'A second start');
      await pair.client.send(note(7));
      await listener.hasMessages(1);
      checkEqual(listener.numbers, [7], 'What arrives after a second start');
    },
  },
  {
    id: 'T1.4',
    title: 'rejects a start after close',
    async run(pair) {
      await pair.client.close();
      await checkRejects(pair.client.start(), 'start after close');
    },
  },
];
