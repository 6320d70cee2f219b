/** The server as a program of its own, for the transport that needs one. */

import { serveStdio } from '@mortise/transport-stdio/server';
import { createCalculator } from './calculator.ts';
import { readFlags } from './read-flags.ts';

readFlags(
  `Usage: node apps/swap-transport/dist/server.js

Serves the calculator over stdio: a host starts it and speaks to it through its input and output. It has no flags.

Example: npx @modelcontextprotocol/inspector node apps/swap-transport/dist/server.js
`,
  {},
);

await serveStdio(createCalculator());
