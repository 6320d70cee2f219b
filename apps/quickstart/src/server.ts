#!/usr/bin/env node
/** Serves the quickstart over stdio: the program that a host's `mcp.json` names. */

import { fileURLToPath } from 'node:url';
import { serveStdio } from '@mortise/transport-stdio/server';
import { createQuickstart } from './quickstart-server.ts';

const repository = fileURLToPath(new URL('../../..', import.meta.url));
const { server } = await createQuickstart(repository);
await serveStdio(server);
