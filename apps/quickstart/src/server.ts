#!/usr/bin/env node
/** Serves the quickstart over stdio: the program that a host's `mcp.json` names. */

import { fileURLToPath } from 'node:url';
import { serveStdio } from '@mortise/transport-stdio/server';
import { createQuickstart } from './quickstart-server.ts';
import { readFlags } from './read-flags.ts';

readFlags(
  `Usage: node apps/quickstart/dist/server.js

Serves the quickstart over stdio: a host starts it and speaks to it through its input and output. It has no flags.

Example, an entry in a host's mcp.json, with the path of this clone:
  { "mcpServers": { "quickstart": { "command": "node", "args": ["${fileURLToPath(import.meta.url)}"] } } }
`,
  {},
);

const repository = fileURLToPath(new URL('../../..', import.meta.url));
const { server } = await createQuickstart(repository);
await serveStdio(server);
