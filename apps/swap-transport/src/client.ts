/** The one client: `node dist/client.js --transport=websocket`. Exits with 0 only if every answer was right. */

import assert from 'node:assert/strict';
import { McpClient } from '@mortise/client';
import { createCalculator } from './calculator.ts';
import { readFlags } from './read-flags.ts';
import { transports } from './transports.ts';

const names = Object.keys(transports).join(', ');
const flags = readFlags(
  `Usage: node apps/swap-transport/dist/client.js [flags]

Serves the calculator over a transport, uses it through the same one, and exits with 0 when every answer was right.

  --transport NAME    one of ${names} (default memory)
  --era ERA           modern or legacy (default modern)

Example: node apps/swap-transport/dist/client.js --transport=websocket --era=legacy
`,
  { transport: { type: 'string', default: 'memory' }, era: { type: 'string', default: 'modern' } },
);
const reach = transports[flags.transport];
if (!reach || !(flags.era === 'modern' || flags.era === 'legacy')) {
  process.stderr.write(
    `"--transport ${flags.transport} --era ${flags.era}" is not to be had; the transports are ${names}, the eras modern and legacy\n`,
  );
  process.exit(2);
}

const { transport, close } = await reach(createCalculator());
const client = await McpClient.connect(transport, { name: 'swap-transport', version: '1.0.0' }, { era: flags.era });

assert.deepEqual(
  (await client.listTools()).tools.map(({ name }) => name),
  ['add', 'count'],
);
assert.deepEqual((await client.callTool('add', { a: 1, b: 2 })).structuredContent, { sum: 3 });
const steps: number[] = [];
await client.callTool('count', { to: 3 }, { onProgress: ({ progress }) => void steps.push(progress) });
assert.equal(steps.at(-1), 3);
assert.match(JSON.stringify((await client.readResource('calculator://about')).contents), /Adds two numbers/);
await assert.rejects(client.callTool('divide', { a: 1, b: 0 }));

await client.close();
await close();
console.log(`${flags.transport}, ${flags.era}: every answer was right`);
