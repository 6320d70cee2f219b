/** `plain-server.mjs` over standard streams. The first argument is the fault. */

import { createInterface } from 'node:readline';
import { createAnswerer } from './plain-server.mjs';

const [, , fault = ''] = process.argv;
const answer = createAnswerer(fault);
if (fault === 'banner on standard output') console.log('Plain server is ready.');
if (fault === 'line without an end') {
  const go = () => {
    while (process.stdout.write('x'.repeat(1 << 20)));
    process.stdout.once('drain', go);
  };
  go();
}
if (fault === 'stays when its input ends') setInterval(() => undefined, 1000);

createInterface({ input: process.stdin }).on('line', (line) => {
  let message;
  try {
    message = JSON.parse(line);
  } catch (error) {
    if (fault === 'dies of a bad line') throw error;
    message = undefined;
  }
  const reply = message === undefined ? { jsonrpc: '2.0', id: null, error: { code: -32700, message: 'Parse error' } } : answer(message);
  if (reply) process.stdout.write(`${JSON.stringify(reply)}\n`);
});
