/** Mortise's client uses servers written with the official SDKs, over real child processes, in each era that they speak. */

import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { McpClient } from '@mortise/client';
import { REVISIONS } from '@mortise/protocol';
import { stdioTransport } from '@mortise/transport-stdio/client';
import { answers, describeEverythingServer, describeOfficialServer } from './official-server-cases.ts';

const fixture = (name: string) => fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));
const everything = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js');

function open(args: string[], protocolVersion?: string): Promise<McpClient> {
  const transport = stdioTransport({ command: process.execPath, args, stderr: 'ignore' });
  // On a busy machine a server may take seconds to start; as long as it is silent nothing is known of its era.
  return McpClient.connect(transport, { name: 'mortise', version: '1.0.0' }, { ...answers, protocolVersion, probeTimeoutMs: 60_000 });
}

const v1 = [fixture('official-v1-server.mjs')];
const v2 = [fixture('official-v2-server.mjs')];
for (const { version, era } of REVISIONS) {
  if (era === 'legacy') describeOfficialServer({ name: `v1, pinned to ${version}`, era, open: () => open(v1, version) });
  describeOfficialServer({ name: `v2, pinned to ${version}`, era, open: () => open(v2, version) });
}
describeOfficialServer({ name: 'v1, detected', era: 'legacy', open: () => open(v1) });
describeOfficialServer({ name: 'v2, detected', era: 'modern', open: () => open(v2) });
describeEverythingServer('over stdio', () => open([everything, 'stdio']));
