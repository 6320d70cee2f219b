/**
 * A host with 45 sound servers at one address, and hostile ones on stdio if told. Prints how long the sound ones took until each had
 * listed its tools and answered 40 calls, how many answers were right, and the most memory that the host held.
 */

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createHost } from '@mortise/host';
import { httpTransport } from '@mortise/transport-http/client';
import { stdioTransport } from '@mortise/transport-stdio/client';

const [url, ...hostile] = process.argv.slice(2);
const program = fileURLToPath(new URL('hostile-program.mjs', import.meta.url));
const sound = Array.from({ length: 45 }, (_, index) => [`sound-${index}`, { transport: httpTransport(url) }]);
const harmful = hostile.map((kind) => [
  kind,
  { transport: stdioTransport({ command: process.execPath, args: [program, kind], stderr: 'ignore' }) },
]);
const host = createHost({ servers: Object.fromEntries([...harmful, ...sound]), policy: () => true });

// What harms begins before what is measured.
await Promise.allSettled(hostile.map((kind) => Promise.race([host.start(kind), new Promise((resolve) => setTimeout(resolve, 1_000))])));
const lists = host.tools().catch(() => []);

let right = 0;
const use = async ([name]) => {
  for (let call = 0; call < 40; call += 1) {
    const text = `${name} ${call}`;
    const { content } = await host.callTool(`${name}__echo`, { text });
    if (content[0].text === text) right += 1;
  }
};
const startedAt = performance.now();
await Promise.all(sound.map(use));
const ms = performance.now() - startedAt;
const tools = (await lists).filter(({ server }) => server.startsWith('sound')).length;
const peakBytes = Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) * 1024;
process.stdout.write(`${JSON.stringify({ ms, right, tools, peakBytes })}\n`);
await host.close();
process.exit(0);
