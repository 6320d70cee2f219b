/** A server on stdio that means harm, in the way that its argument names. */

import { createInterface } from 'node:readline';

const kind = process.argv[2];
const write = (text) => process.stdout.write(text);
const answer = (id, result) => write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`);

/** Writes a text over and over, as fast as it is read. */
async function flood(text) {
  for (;;) if (!write(text)) await new Promise((resolve) => process.stdout.once('drain', resolve));
}

const tool = (index) => ({ name: `tool-${index}`, description: 'x'.repeat(1_000), inputSchema: { type: 'object' } });

/** Pages of 5,000 tools each, without an end. */
const list = (id, cursor = '0') =>
  answer(id, { tools: Array.from({ length: 5_000 }, (_, index) => tool(`${cursor}-${index}`)), nextCursor: String(Number(cursor) + 1) });

const kinds = {
  silent: () => undefined,
  dies: () => process.exit(1),
  garbage: () => flood('{"jsonrpc": "2.0", "method": \n'),
  floods: ({ id }) => {
    answer(id, { protocolVersion: '2025-11-25', capabilities: { tools: { listChanged: true } }, serverInfo: { name: 'f', version: '1' } });
    void flood(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' })}\n`.repeat(100));
  },
  huge: ({ id, method, params }) => {
    if (method === 'tools/list') list(id, params?.cursor);
    else if (id !== undefined)
      answer(id, { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'h', version: '1' } });
  },
};

process.stdout.on('error', () => process.exit(0));
createInterface({ input: process.stdin })
  .on('line', (line) => {
    const message = JSON.parse(line);
    if (message.method === 'server/discover')
      return write(`${JSON.stringify({ jsonrpc: '2.0', id: message.id, error: { code: -32601, message: 'no' } })}\n`);
    return kinds[kind]?.(message);
  })
  .on('close', () => process.exit(0));
