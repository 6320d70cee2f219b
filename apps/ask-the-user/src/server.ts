/** The server as a program of its own, for stdio. */

import { serveStdio } from '@mortise/transport-stdio/server';
import { createTripServer } from './trip-server.ts';

await serveStdio(createTripServer());
