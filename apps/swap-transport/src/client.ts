/** The one client: `node dist/client.js --transport=websocket`. Exits with 0 only if every answer was right. */

import assert from 'node:assert/strict';
import { McpClient } from '@mortise/client';
import { Option, program } from 'commander';
import { createCalculator } from './calculator.ts';
import { transports } from './transports.ts';

const flags = program
  .name('node apps/swap-transport/dist/client.js')
  .description('Serves the calculator over a transport, uses it through the same one, and exits with 0 when every answer was right.')
  .addOption(new Option('--transport <name>').choices(Object.keys(transports)).default('memory'))
  .addOption(new Option('--era <era>').choices(['modern', 'legacy']).default('modern'))
  .addHelpText('after', '\nExample: node apps/swap-transport/dist/client.js --transport=websocket --era=legacy')
  .showSuggestionAfterError(false)
  .configureOutput({ outputError: (reason, write) => write(reason.replace(/\.?\n$/, '; the flags are --transport, --era, --help\n')) })
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
  .parse()
  .opts<{ transport: keyof typeof transports; era: 'modern' | 'legacy' }>();

const { transport, close } = await transports[flags.transport](createCalculator());
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
