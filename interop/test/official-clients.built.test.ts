/** The official SDKs' clients use a server written with Mortise, over a real child process, in each era that they speak. */

import { fileURLToPath } from 'node:url';
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio';
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { describeOfficialClient, openV1, openV2 } from './official-client-cases.ts';

const serverFile = fileURLToPath(new URL('../fixtures/mortise-server.mjs', import.meta.url));
const child = { command: process.execPath, args: [serverFile], stderr: 'inherit' as const };

describeOfficialClient({ name: 'v1, legacy', era: 'legacy', open: () => openV1(new StdioV1(child)) });
describeOfficialClient({ name: 'v2, legacy', era: 'legacy', open: () => openV2(new StdioV2(child), 'legacy') });
describeOfficialClient({ name: 'v2, modern', era: 'modern', open: () => openV2(new StdioV2(child), 'auto') });
