/** A client that asks a hostile server one thing. Prints how it ended, and the most memory that it ever held beyond its start. */

import { readFileSync } from 'node:fs';
import { httpTransport } from '@mortise/transport-http/client';
import { nodeHttpSender } from '@mortise/transport-http/node';

const [url = '', sender = 'fetch'] = process.argv.slice(2);
const peak = () => Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) * 1024;
const transport = httpTransport(url, sender === 'fetch' ? {} : { sender: nodeHttpSender() });
const meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} };
const request = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'x', arguments: {}, _meta: meta } };

const before = peak();
// Some never end by themselves: a program gives those up.
const outcome = await transport.exchange(request, { signal: AbortSignal.timeout(4_000) }).then(
  () => 'answered',
  (error) => error.code ?? error.name,
);
await transport.close();
process.stdout.write(`${JSON.stringify({ outcome: String(outcome), peak: peak(), before })}\n`);
process.exit(0);
