/** Plans the same trip in every revision, over stdio, over HTTP and on two machines by turns. Exits with 0 only if every answer was right. */

import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { type ClientTransportSource, McpClient } from '@mortise/client';
import { REVISIONS, type Revision } from '@mortise/protocol';
import { httpTransport } from '@mortise/transport-http/client';
import { serveHttp } from '@mortise/transport-http/node';
import { stdioTransport } from '@mortise/transport-stdio/client';
import { program } from 'commander';
import { createTripServer, type Desk } from './trip-server.ts';
import { serveTwoMachines } from './two-machines.ts';
import { user } from './user.ts';

program
  .name('node apps/ask-the-user/dist/client.js')
  .description('Plans a trip in every revision, over stdio, over HTTP and on two machines, and exits with 0 when every answer was right.')
  .addHelpText('after', '\nExample: npm start --prefix apps/ask-the-user      (from the root of the repository, after npm run build)')
  .showSuggestionAfterError(false)
  .configureOutput({ outputError: (reason, write) => write(reason.replace(/\.?\n$/, '; the flags are --help\n')) })
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
  .parse();

/** Lets the client plan a trip over a transport, and holds the answer against what it must be. */
async function planTrip(way: string, transport: ClientTransportSource, revision: Revision): Promise<void> {
  const hasForms = revision.rules.elicitation !== 'none';
  const { elicitation, ...withoutForms } = user;
  const answers = hasForms ? { ...withoutForms, elicitation } : withoutForms;
  const info = { name: 'ask-the-user', version: '1.0.0' };
  const client = await McpClient.connect(transport, info, { ...answers, protocolVersion: revision.version });
  try {
    const { content } = await client.callTool('plan_trip', { city: 'Ulm' });
    const nights = hasForms ? 3 : 2;
    assert.deepEqual(content, [
      { type: 'text', text: `room 1 (once); A PLAN FOR ${nights} NIGHTS IN ULM; keep it in file:///home/ann/trips` },
    ]);
    assert.deepEqual((await client.callTool('bookings')).content, [{ type: 'text', text: '1' }]);
    console.log(`${way.padEnd(12)} ${revision.version}   ${nights} nights, one room`);
  } finally {
    await client.close();
  }
}

for (const revision of REVISIONS) {
  const server = fileURLToPath(new URL('./server.js', import.meta.url));
  await planTrip('stdio', stdioTransport({ command: process.execPath, args: [server] }), revision);

  // The oldest revision has an HTTP of its own, which servers offer only where they are asked to.
  const serving = await serveHttp(createTripServer(), { port: 0, sse: true });
  const url = revision.http.endpoints === 'sse-pair' ? new URL('/sse', serving.url).href : serving.url;
  await planTrip('HTTP', httpTransport(url), revision);
  await serving.close();

  if (revision.era === 'modern') {
    const desk: Desk = { booked: 0 };
    const machines = await serveTwoMachines(desk);
    await planTrip('two machines', httpTransport(machines.url), revision);
    assert.ok(machines.served.every((count) => count > 1));
    assert.equal(desk.booked, 1);
    await machines.close();
  }
}
console.log('Every answer was right');
