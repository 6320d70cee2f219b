/** The server as a program of its own, for the transport that needs one. */

import { serveStdio } from '@mortise/transport-stdio/server';
import { createCalculator } from './calculator.ts';

await serveStdio(createCalculator());
