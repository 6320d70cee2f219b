/** The command that the suite runs, once a scenario: `node dist/client.js <url>`. Exits with 0 when the scenario went as it should. */

import { InvalidArgumentError, program } from 'commander';
import { scenarios } from './client/scenarios.ts';

const [url = ''] = program
  .name('MCP_CONFORMANCE_SCENARIO=NAME node apps/conformance/dist/client.js')
  .description('Plays one scenario of the conformance suite against a server, and exits with 0 when it went as it should.')
  .argument('<URL>', "the server's address, such as http://127.0.0.1:3001/mcp", (text) => {
    if (!URL.canParse(text)) throw new InvalidArgumentError('It must be an address, such as http://127.0.0.1:3001/mcp');
    return text;
  })
  .addHelpText('after', '\nExample: MCP_CONFORMANCE_SCENARIO=tools_call node apps/conformance/dist/client.js http://127.0.0.1:3001/mcp')
  .showSuggestionAfterError(false)
  .configureOutput({ outputError: (reason, write) => write(reason.replace(/\.?\n$/, '; the flags are --help\n')) })
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
  .parse().args;
const name = process.env['MCP_CONFORMANCE_SCENARIO'] ?? '';
const scenario = scenarios[name];
if (!scenario) throw new Error(`The scenario "${name}" is none that this client plays; it plays ${Object.keys(scenarios).join(', ')}`);

const context: unknown = JSON.parse(process.env['MCP_CONFORMANCE_CONTEXT'] ?? '{}');
await scenario({ url, context });
