/** The official SDK v1, which knows no modern server, uses one through a gateway: both on stdio. */

import { fileURLToPath } from 'node:url';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { describeOfficialClient, openV1 } from './official-client-cases.ts';

const gateway = fileURLToPath(new URL('../fixtures/mortise-gateway.mjs', import.meta.url));

describeOfficialClient({
  name: 'v1 on stdio, through a gateway to a server of the modern era alone',
  era: 'legacy',
  open: () => openV1(new StdioClientTransport({ command: process.execPath, args: [gateway], stderr: 'inherit' })),
});
