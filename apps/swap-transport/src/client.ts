/** The one client: `node dist/client.js --transport=websocket`. Exits with 0 only if every answer was right. */

import assert from 'node:assert/strict';
import { parseArgs } from 'node:util';
import { McpClient } from '@mortise/client';
import { createCalculator } from './calculator.ts';
import { transports } from './transports.ts';

const { values } = parseArgs({ options: { transport: { type: 'string', default: 'memory' }, era: { type: 'string', default: 'modern' } } });
const reach = transports[values.transport];
if (!reach) throw new Error(`--transport: "${values.transport}" is none of ${Object.keys(transports).join(', ')}`);

const { transport, close } = await reach(createCalculator());
const client = await McpClient.connect(
  transport,
  { name: 'swap-transport', version: '1.0.0' },
  { era: values.era === 'legacy' ? 'legacy' : 'modern' },
);

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
console.log(`${values.transport}, ${values.era}: every answer was right`);
