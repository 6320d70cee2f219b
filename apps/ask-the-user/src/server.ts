/** The server as a program of its own, for stdio. */

import { serveStdio } from '@mortise/transport-stdio/server';
import { readFlags } from './read-flags.ts';
import { createTripServer } from './trip-server.ts';

readFlags(
  `Usage: node apps/ask-the-user/dist/server.js

Serves the trip planner over stdio: a host starts it and speaks to it through its input and output. It has no flags.

Example: npx @modelcontextprotocol/inspector node apps/ask-the-user/dist/server.js
`,
  {},
);

await serveStdio(createTripServer());
