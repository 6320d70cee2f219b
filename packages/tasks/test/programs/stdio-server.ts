/** The server of the tests, over stdio. */

import { serveStdio } from '@mortise/transport-stdio/server';
import { createTaskServer } from '../support/task-server.ts';

await serveStdio(createTaskServer({ pollIntervalMs: 20 }).server);
