/**
 * Lets the clients of a suite run play one after the other.
 *
 * A suite starts the clients of all its scenarios at once, and some scenarios judge when a client comes. So many programs that start on
 * a machine of two cores make each other late, and what is judged then is the machine.
 */

import { createServer } from 'node:net';
import { once } from 'node:events';

/** Sent to a client whose turn it is. */
const GO = '.';

/**
 * @param {number} count How many clients come. The first has its turn when all are there, so that none of them still starts beside it.
 * @returns {Promise<{ port: number, close(): Promise<void> }>} Where `take-turn.mjs` asks.
 */
export async function openTurns(count) {
  /** In the order in which they came; the first is the one that plays. */
  const clients = new Set();
  let missing = count;
  const giveTurn = () => {
    const [first] = clients;
    if (missing <= 0) first?.write(GO);
  };
  const server = createServer((socket) => {
    clients.add(socket);
    missing -= 1;
    // Also one that comes after all that were counted.
    if (missing === 0 || clients.size === 1) giveTurn();
    socket.on('error', () => {}).resume();
    // A turn ends with the program, which closes its socket whichever way it ends.
    socket.once('close', () => {
      const [first] = clients;
      clients.delete(socket);
      if (socket === first) giveTurn();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = async () => {
    server.close();
    await once(server, 'close');
  };
  return { port: server.address().port, close };
}
