/** Serves a gateway with the everything server behind it: `node dist/gateway.js --url http://127.0.0.1:3001/mcp --era legacy`. */

import { createGateway } from '@mortise/host/gateway';
import { MemoryEventStore } from '@mortise/protocol/edge';
import { taskClient } from '@mortise/tasks/client';
import { createTasks } from '@mortise/tasks/server';
import { httpTransport } from '@mortise/transport-http/client';
import { serveHttp } from '@mortise/transport-http/node';
import { Option, program } from 'commander';

const { url, era } = program
  .name('node apps/conformance/dist/gateway.js')
  .description('Serves a gateway over HTTP at /mcp, on this machine alone and on any free port, and prints its URL.')
  .requiredOption('--url <url>', 'the server behind the gateway')
  .addOption(new Option('--era <era>', 'the era that the gateway speaks with it').choices(['legacy', 'modern']).default('modern'))
  .addHelpText('after', '\nExample: node apps/conformance/dist/gateway.js --url http://127.0.0.1:3001/mcp')
  .showSuggestionAfterError(false)
  .configureOutput({ outputError: (reason, write) => write(reason.replace(/\.?\n$/, '; the flags are --url, --era, --help\n')) })
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
  .parse()
  .opts<{ url: string; era: 'legacy' | 'modern' }>();

/** Servers of 2026-07-28 do not list which tools may be tasks. */
const optional = ['slow_compute', 'protocol_error_job', 'confirm_delete', 'multi_input', 'test_tool_with_task'];
const supportOf = (name: string): 'optional' | 'required' | undefined =>
  name === 'failing_job' ? 'required' : optional.includes(name) ? 'optional' : undefined;

const gateway = createGateway({
  servers: {
    everything: {
      transport: httpTransport(url),
      client: { era },
      keepsNames: true,
      tools: (tool) => ({ ...tool, execution: { taskSupport: supportOf(tool.name) } }),
    },
  },
  tasks: createTasks(),
  extensions: () => [taskClient({ prefersTasks: true })],
});
const serving = await serveHttp(gateway, { port: 0, eventStore: new MemoryEventStore() });
process.stdout.write(`${serving.url}\n`);
