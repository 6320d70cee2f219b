/** The server as a program, for stdio. What must never happen is told on stderr, where the test looks. */

import { serveStdio } from '@mortise/transport-stdio/server';
import { createEveryHandlerServer } from './create-every-handler-server.ts';

process.on('unhandledRejection', (reason) => process.stderr.write(`unhandled rejection: ${String(reason)}\n`));
await serveStdio(createEveryHandlerServer());
