#!/usr/bin/env node
/** Serves the quickstart over stdio: the program that a host's `mcp.json` names. */

import { fileURLToPath } from 'node:url';
import { serveStdio } from '@mortise/transport-stdio/server';
import { createQuickstart } from './quickstart-server.ts';

// A host gives it no arguments, and then does not wait for the parser of them.
if (process.argv.length > 2) {
  const { program } = await import('commander');
  program
    .name('node apps/quickstart/dist/server.js')
    .description('Serves the quickstart over stdio: a host starts it and speaks to it through its input and output.')
    .addHelpText(
      'after',
      `
Example, an entry in a host's mcp.json, with the path of this clone:
  { "mcpServers": { "quickstart": { "command": "node", "args": ["${fileURLToPath(import.meta.url)}"] } } }`,
    )
    .showSuggestionAfterError(false)
    .configureOutput({ outputError: (reason, write) => write(reason.replace(/\.?\n$/, '; the flags are --help\n')) })
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
    .parse();
}

const repository = fileURLToPath(new URL('../../..', import.meta.url));
const { server } = createQuickstart(repository);
await serveStdio(server);
