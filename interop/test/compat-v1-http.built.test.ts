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

const EVENTS = /^(?:elicitation|sampling|progress|notifications\/.*)$/;

/**
 * The steps in their order, and what the server sent meanwhile, whose order depends on time. Leaves out what differs from run to run, and
 * what differs on purpose.
 */
function toComparable(transcript: readonly TranscriptEntry[], losesQuestions = false): readonly unknown[] {
  const entries = JSON.parse(withoutChance(JSON.stringify(transcript)).replaceAll(ON_PURPOSE, '')) as TranscriptEntry[];
  const isEvent = ([what]: TranscriptEntry): boolean => EVENTS.test(what);
  const events = entries.filter((entry) => isEvent(entry) && !(losesQuestions && entry[0] === 'elicitation'));
  return [...entries.filter((entry) => !isEvent(entry)), ...events.map((entry) => JSON.stringify(entry)).toSorted()];
}

/**
 * - The text of "Method not found" names the method, and that of -32042 says what to do.
 * - A question carries a progress token.
 * - Without sessions a server does not say that it will send `list_changed`.
 * - A server with tasks says that they can be listed and cancelled, which v1 serves too.
 */
const ON_PURPOSE =
  /(?<=Method not found): [a-z/]+|(?<=MCP error -32042): [^"]*|"_meta":\{"progressToken":"<uuid>"\},?|"progressToken":"<uuid>",?|"listChanged":true|"list":\{\},"cancel":\{\},/g;

/** Ids, times, ports, and how far a new task is when the client hears of it. */
function withoutChance(text: string): string {
  return text
    .replaceAll(/[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/g, '<uuid>')
    .replaceAll(/(?:localhost|127\.0\.0\.1):\d+/g, '<host>')
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z/g, '<time>')
    .replaceAll(/"(taskId|createdAt|lastUpdatedAt)":"[^"]*"/g, '"$1":"<any>"')
    .replaceAll(/("type":"taskCreated","status":)"\w+"/g, '$1"<any>"');
}

it('leaves nothing to do by hand in the examples', () => {
  expect(programs.left).toEqual([]);
});

describe('a server on compat', () => {
  it.each(scenarios.map((scenario) => [scenario.server, scenario.title, scenario] as const))(
    'answers as the original: %s, %s',
    async (_server, _title, scenario) => {
      const [official, compat] = await Promise.all([record('official', scenario), record('compat', scenario)]);
      expect(toComparable(compat, scenario.losesQuestions)).toEqual(toComparable(official, scenario.losesQuestions));
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

interface ClientExample {
  readonly client: string;
  readonly server: string;
  readonly args?: (url: string) => readonly string[];
  /** What a person types. */
  readonly typed?: readonly string[];
}

const byUrl = (url: string): readonly string[] => [url];

/** The example clients that end by themselves, each with a server. */
const clients: readonly ClientExample[] = [
  { client: 'parallelToolCallsClient', server: 'simpleStreamableHttp', args: byUrl },
  { client: 'multipleClientsParallel', server: 'simpleStreamableHttp', args: byUrl },
  { client: 'streamableHttpWithSseFallbackClient', server: 'simpleStreamableHttp', args: byUrl },
  { client: 'streamableHttpWithSseFallbackClient', server: 'simpleSseServer', args: byUrl },
  { client: 'ssePollingClient', server: 'ssePollingExample' },
  { client: 'simpleTaskInteractiveClient', server: 'simpleTaskInteractive', args: (url) => ['--url', url], typed: ['y'] },
];

/**
 * - Compat resumes streams by itself, and tells the program no event ids.
 * - For a server that has HTTP+SSE alone, compat's Streamable HTTP transport uses that by itself.
 */
const DIFFERS_ON_PURPOSE = /[Ee]vent ID|Streamable HTTP|SSE transport|Attempting|SSE connection|Falling back|^<|^\s*<pre>/;

describe('a client on compat', () => {
  it.each(clients.map((example) => [example.client, example.server, example] as const))(
    'prints what the original prints: %s with %s',
    async (_client, _server, { client, server, args = () => [], typed = [] }) => {
      const [official, compat] = await Promise.all(
        (['official', 'compat'] as const).map(async (side) => {
          const serving = await start('official', { server });
          const [port = 0] = serving.ports;
          const printed = await programs.run(side, client, port, { args: args(`http://localhost:${port}/mcp`), typed });
          await serving.stop();
          const lines = withoutChance(printed)
            .replaceAll(/[\da-f]{32}/g, '<id>')
            .split('\n');
          return lines.filter((line) => line.trim() !== '' && !DIFFERS_ON_PURPOSE.test(line)).toSorted();
        }),
      );
      expect(compat).toEqual(official);
      count('clients');
    },
  );
});
