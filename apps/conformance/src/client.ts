/** The command that the suite runs, once a scenario: `node dist/client.js <url>`. Exits with 0 when the scenario went as it should. */

import { scenarios } from './client/scenarios.ts';

const url = process.argv.at(-1) ?? '';
const name = process.env['MCP_CONFORMANCE_SCENARIO'] ?? '';
const scenario = scenarios[name];
if (!scenario) throw new Error(`The scenario "${name}" is none that this client plays; it plays ${Object.keys(scenarios).join(', ')}`);

const context: unknown = JSON.parse(process.env['MCP_CONFORMANCE_CONTEXT'] ?? '{}');
await scenario({ url, context });
