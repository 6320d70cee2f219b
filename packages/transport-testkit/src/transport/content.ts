/** Test cases for T9 and T10 of `Transport`: the messages of a transport arrive unchanged. */

import { serializeMessage } from '@mortise/jsonrpc-core/messages';
import { check, checkEqual } from '../check.ts';
import { type End, Listener, note, startBoth, type TransportCase, type TransportPair } from './transport-case.ts';

const TEXTS = [
  'line one\nline two\r\nline three\r',
  'U+2028 \u2028 U+2029 \u2029 U+0085 \u0085',
  'NUL \u0000 BEL \u0007 DEL \u007f',
  '"quotes" \\backslashes\\ and {"json":[1]}',
  'äöü ß é \u0301 ñ',
  '漢字 かな 한글 ไทย',
  '😀 👩\u200d👩\u200d👧 🏴 \u{10ffff}',
  'a lone surrogate \ud800 and a BOM \ufeff',
  '',
];

async function arrivesUnchanged(pair: TransportPair, to: End, pad: string): Promise<void> {
  const listener = new Listener(pair[to]);
  await startBoth(pair);
  const message = note(0, { pad });
  await pair[to === 'client' ? 'server' : 'client'].send(message);
  await listener.hasMessages(1);
  check(JSON.stringify(listener.messages[0]) === JSON.stringify(message), 'The message should arrive unchanged');
}

/** Makes a text of 1 MiB with characters of one to four bytes in UTF-8, so that the ends of chunks split some of them. */
function oneMebibyte(): string {
  const piece = 'aß漢😀\u2028\n';
  return piece.repeat(Math.ceil((1024 * 1024) / new TextEncoder().encode(piece).length));
}

export const contentCases: readonly TransportCase[] = [
  {
    id: 'T9.1',
    title: 'carries any text unchanged, in keys too',
    async run(pair) {
      const ends = { client: new Listener(pair.client), server: new Listener(pair.server) };
      await startBoth(pair);
      const messages = TEXTS.map((text, n) => note(n, { text, [`key ${text}`]: [text] }));
      for (const message of messages) await Promise.all([pair.client.send(message), pair.server.send(message)]);
      await Promise.all([ends.client.hasMessages(TEXTS.length), ends.server.hasMessages(TEXTS.length)]);
      checkEqual(ends.server.messages, messages, 'What the server receives');
      checkEqual(ends.client.messages, messages, 'What the client receives');
    },
  },
  {
    id: 'T9.2',
    title: 'joins characters that a chunk boundary splits, wherever it falls',
    needs: ['frames', 'chunks'],
    async run(pair) {
      const listener = new Listener(pair.server);
      await startBoth(pair);
      check(pair.injectFrame !== undefined, 'A pair with the trait "frames" should have injectFrame');
      // With raw characters instead of escapes, as some JSON libraries write them.
      const message = note(0, { text: 'aß漢😀\u2028é' });
      const frame = new TextEncoder().encode(serializeMessage(message));
      for (const chunkBytes of [1, 2, 3, 5, 7]) await pair.injectFrame('server', frame, chunkBytes);
      await listener.hasMessages(5);
      checkEqual(listener.messages, [message, message, message, message, message], 'What arrives in pieces of 1, 2, 3, 5 and 7 bytes');
    },
  },
  { id: 'T10.1', title: 'carries a message of 1 MiB to the server whole', run: (pair) => arrivesUnchanged(pair, 'server', oneMebibyte()) },
  { id: 'T10.2', title: 'carries a message of 1 MiB to the client whole', run: (pair) => arrivesUnchanged(pair, 'client', oneMebibyte()) },
];
