/** The fuzzed server behind stdin and stdout. */

import { serveStdio } from '@mortise/transport-stdio/server';
import { createFuzzServer } from './fuzz-server.ts';

await serveStdio(createFuzzServer());
