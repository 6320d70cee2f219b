/** Waiting for what comes to a halt by itself, without a time. */

import { send } from './send.ts';

const STILL_VISITS = 20;

/**
 * Waits until a count grows no more, however often other requests went over the same machinery meanwhile: whoever makes it grow waits for something
 * else than its turn or the kernel's.
 */
export async function untilStill(port: number, count: () => number): Promise<void> {
  for (let last = count(), visits = 0; visits < STILL_VISITS; visits++) {
    await (await send(port, { method: 'GET', path: '/nowhere' })).text();
    if (count() === last) continue;
    last = count();
    visits = 0;
  }
}
