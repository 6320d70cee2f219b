/** The command that the suite runs, once a scenario: `node dist/client.js <url>`. Exits with 0 when the scenario went as it should. */

import { scenarios } from './client/scenarios.ts';
import { readFlags } from './read-flags.ts';

const url = process.argv[2] ?? '';
if (!URL.canParse(url)) {
  readFlags(
    `Usage: MCP_CONFORMANCE_SCENARIO=NAME node apps/conformance/dist/client.js URL

Plays one scenario of the conformance suite against a server, and exits with 0 when it went as it should. It has no flags.

Example: MCP_CONFORMANCE_SCENARIO=tools_call node apps/conformance/dist/client.js http://127.0.0.1:3001/mcp
`,
    {},
  );
  process.stderr.write(`The first argument must be the server's URL, such as http://127.0.0.1:3001/mcp; --help tells more\n`);
  process.exit(2);
}
const name = process.env['MCP_CONFORMANCE_SCENARIO'] ?? '';
const scenario = scenarios[name];
if (!scenario) throw new Error(`The scenario "${name}" is none that this client plays; it plays ${Object.keys(scenarios).join(', ')}`);

const context: unknown = JSON.parse(process.env['MCP_CONFORMANCE_CONTEXT'] ?? '{}');
await scenario({ url, context });
