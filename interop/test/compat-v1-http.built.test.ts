/**
 * The shipped HTTP examples of `@modelcontextprotocol/sdk` 1.32, rewritten by the codemod, behave as the originals do: its own client sees
 * the same lists, results, progress, questions, tasks, sessions and errors, and its example clients print the same.
 */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { McpClient } from '@mortise/client';
import { httpTransport } from '@mortise/transport-http/client';
import { ExamplePrograms, freePorts, type RunOptions, type ServingProgram, type Side } from './compat-v1-programs.ts';
import { Recorder, type Scenario, scenarios, type TranscriptEntry } from './compat-v1-scenarios.ts';

let programs: ExamplePrograms;
const counts: Record<string, number> = {};
beforeAll(async () => {
  programs = await ExamplePrograms.prepare();
});
afterAll(async () => {
  await programs.close();
  process.stdout.write(
    `compat-v1 over HTTP, as the original: ${Object.entries(counts)
      .map(([what, count]) => `${count} ${what}`)
      .join(', ')}\n`,
  );
});

function count(what: string, number = 1): void {
  counts[what] = (counts[what] ?? 0) + number;
}

async function start(side: Side, { server, ports, args = [] }: Pick<Scenario, 'server' | 'ports' | 'args'>): Promise<ServingProgram> {
  let options: RunOptions = { args };
  if (ports === true) {
    const [mcp = 0, auth = 0] = await freePorts(2);
    options = { args, env: { MCP_PORT: String(mcp), MCP_AUTH_PORT: String(auth) }, ownPorts: [mcp, auth] };
  }
  return programs.serve(side, server, options);
}

async function record(side: Side, scenario: Scenario): Promise<readonly TranscriptEntry[]> {
  const serving = await start(side, scenario);
  const recorder = new Recorder();
  try {
    const transport = await scenario.connect(recorder, serving.ports);
    await scenario.run(recorder, transport, serving.ports);
    await recorder.client.close();
  } finally {
    await serving.stop();
  }
  return recorder.transcript;
}

/** What differs from run to run: ids, times, ports, and names that the server makes up. */
function toComparable(transcript: unknown): unknown {
  const text = JSON.stringify(transcript)
    .replaceAll(/[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/g, '<uuid>')
    .replaceAll(/(?:localhost|127\.0\.0\.1):\d+/g, '<host>')
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z/g, '<time>')
    .replaceAll(/"(taskId|createdAt|lastUpdatedAt)":"[^"]*"/g, '"$1":"<any>"');
  return JSON.parse(text) as unknown;
}

it('leaves nothing to do by hand in the examples', () => {
  expect(programs.left).toEqual([]);
});

describe('a server on compat', () => {
  it.each(scenarios.map((scenario) => [scenario.server, scenario.title, scenario] as const))(
    'answers as the original: %s, %s',
    async (_server, _title, scenario) => {
      const [official, compat] = await Promise.all([record('official', scenario), record('compat', scenario)]);
      expect(toComparable(compat)).toEqual(toComparable(official));
      count('servers');
      for (const [what] of compat)
        if (/^(?:elicitation|sampling|progress)$|^(?:call|task) |^notifications/.test(what)) count(what.split(' ', 1)[0] ?? what);
    },
  );

  it.each(['simpleStatelessStreamableHttp', 'honoWebStandardStreamableHttp'])(
    'serves clients of every revision where its routes let them through: %s',
    async (server) => {
      const serving = await start('compat', { server });
      for (const protocolVersion of [undefined, '2025-11-25', '2025-06-18', '2025-03-26']) {
        const options = protocolVersion === undefined ? { era: 'modern' as const } : { protocolVersion };
        const client = await McpClient.connect(
          httpTransport(`http://localhost:${serving.ports[0]}/mcp`),
          { name: 'a', version: '1' },
          options,
        );
        expect((await client.listTools()).tools).toHaveLength(1);
        await client.close();
      }
      await serving.stop();
    },
  );
});

/** The example clients that end by themselves, each with a server, and the answers that a person types. */
const clients: readonly (readonly [client: string, server: string, input?: string])[] = [
  ['parallelToolCallsClient', 'simpleStreamableHttp'],
  ['multipleClientsParallel', 'simpleStreamableHttp'],
  ['streamableHttpWithSseFallbackClient', 'simpleStreamableHttp'],
  ['streamableHttpWithSseFallbackClient', 'simpleSseServer'],
  ['ssePollingClient', 'ssePollingExample'],
  ['simpleTaskInteractiveClient', 'simpleTaskInteractive', 'y\n'],
  [
    'simpleStreamableHttp',
    'simpleStreamableHttp',
    'list-tools\ncall-tool greet {"name":"Ada"}\nlist-prompts\nlist-resources\nterminate-session\nquit\n',
  ],
];

describe('a client on compat', () => {
  it.each(clients.map(([client, server, input = '']) => [client, server, input] as const))(
    'prints what the original prints: %s with %s',
    async (client, server, input) => {
      const printed: unknown[] = [];
      for (const side of ['official', 'compat'] as const) {
        const serving = await start('official', { server });
        const [port = 0] = serving.ports;
        const args = client === 'simpleStreamableHttp' || client === 'ssePollingClient' ? [] : [`http://localhost:${port}/mcp`];
        const url = client === 'simpleTaskInteractiveClient' ? ['--url', ...args] : args;
        const lines = (await programs.run(side, client, port, { args: url, input })).split('\n');
        printed.push(toComparable(client.includes('arallel') ? lines.toSorted() : lines));
        await serving.stop();
      }
      expect(printed[1]).toEqual(printed[0]);
      count('clients');
    },
  );
});
