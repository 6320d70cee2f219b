/**
 * The shipped HTTP examples of `@modelcontextprotocol/sdk` 1.32, rewritten by the codemod, behave as the originals do: its own client sees
 * the same lists, results, progress, questions, tasks, sessions and errors, and its example clients print the same.
 */

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { McpClient } from '@mortise/client';
import { McpServer } from '@mortise/server';
import { httpTransport } from '@mortise/transport-http/client';
import { createHttpHandler } from '@mortise/transport-http/server';
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
function toComparable(transcript: readonly TranscriptEntry[], { losesQuestions, isStateless }: Scenario): readonly unknown[] {
  const same = withoutChance(JSON.stringify(transcript)).replaceAll(ON_PURPOSE, '');
  const entries = JSON.parse(isStateless ? same.replaceAll('"listChanged":true', '') : same) as TranscriptEntry[];
  const isEvent = ([what]: TranscriptEntry): boolean => EVENTS.test(what);
  const events = entries.filter((entry) => isEvent(entry) && !(losesQuestions && entry[0] === 'elicitation'));
  return [...entries.filter((entry) => !isEvent(entry)), ...events.map((entry) => JSON.stringify(entry)).toSorted()];
}

/**
 * - The text of "Method not found" names the method, and that of -32042 says what to do.
 * - A question carries a progress token.
 * - A server with tasks says that they can be listed and cancelled, which v1 serves too.
 */
const ON_PURPOSE =
  /(?<=Method not found): [a-z/]+|(?<=MCP error -32042): [^"]*|"_meta":\{"progressToken":"<uuid>"\},?|"progressToken":"<uuid>",?|"list":\{\},"cancel":\{\},/g;

/** Ids, times, ports, and how far a new task is when the client hears of it. */
function withoutChance(text: string): string {
  return text
    .replaceAll(/[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/g, '<uuid>')
    .replaceAll(/(?:localhost|127\.0\.0\.1):\d+/g, '<host>')
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z/g, '<time>')
    .replaceAll(/"(taskId|createdAt|lastUpdatedAt)":"[^"]*"/g, '"$1":"<any>"')
    .replaceAll(/("type":"taskCreated","status":)"\w+"/g, '$1"<any>"');
}

it('leaves nothing to do by hand in the examples, but names the tokens of resumed streams', () => {
  const left = programs.left.map(({ file, what }) => [file, /^"(\w+)" has no effect/.exec(what)?.[1]]);
  expect(left).toEqual([
    ['client/simpleStreamableHttp.js', 'resumptionToken'],
    ['client/simpleStreamableHttp.js', 'onresumptiontoken'],
    ['client/ssePollingClient.js', 'onresumptiontoken'],
  ]);
});

describe('a server on compat', () => {
  it.each(scenarios.map((scenario) => [scenario.server, scenario.title, scenario] as const))(
    'answers as the original: %s, %s',
    async (_server, _title, scenario) => {
      const [official, compat] = await Promise.all([record('official', scenario), record('compat', scenario)]);
      expect(toComparable(compat, scenario)).toEqual(toComparable(official, scenario));
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
  /** What the server is started with, if the client signs in: its authorization server has a port of its own. */
  readonly signsIn?: readonly string[];
  readonly args?: (url: string) => readonly string[];
  /** What a person types. */
  readonly typed?: readonly string[];
  /** What it prints when it has done what was typed. */
  readonly done?: RegExp;
}

const byUrl = (url: string): readonly string[] => [url];

/** What a person types at the interactive client. */
const COMMANDS: readonly string[] = [
  'list-tools',
  'greet Ada',
  'multi-greet Ada',
  'call-tool greet {"name":7}',
  'call-tool-task delay {"duration":100}',
  'list-prompts',
  'get-prompt greeting-template {"name":"Ada"}',
  'list-resources',
  'read-resource https://example.com/greetings/default',
  'read-resource file:///none',
  'terminate-session',
  'quit',
];
const DONE =
  /Connected to MCP|Available \w+:|Tool result:|Prompt template:|Resource contents:|Transport closed|Error (?:calling|with|getting|reading)/;

/** The example clients that end, each with a server. */
const clients: readonly ClientExample[] = [
  { client: 'parallelToolCallsClient', server: 'simpleStreamableHttp', args: byUrl },
  { client: 'multipleClientsParallel', server: 'simpleStreamableHttp', args: byUrl },
  { client: 'streamableHttpWithSseFallbackClient', server: 'simpleStreamableHttp', args: byUrl },
  { client: 'streamableHttpWithSseFallbackClient', server: 'simpleSseServer', args: byUrl },
  { client: 'ssePollingClient', server: 'ssePollingExample' },
  { client: 'simpleStreamableHttp', server: 'simpleStreamableHttp', typed: COMMANDS, done: DONE },
  {
    client: 'simpleOAuthClient',
    server: 'simpleStreamableHttp',
    signsIn: ['--oauth', '--oauth-strict'],
    args: byUrl,
    typed: ['list', 'call greet {"name":"Ada"}', 'call greet {"name":7}', 'stream delay {"duration":100}', 'call unknown', 'quit'],
  },
  {
    client: 'elicitationUrlExample',
    server: 'elicitationUrlExample',
    signsIn: [],
    typed: ['list-tools', 'payment-confirm', 'y', 'third-party-auth', 'n', 'terminate-session', 'quit'],
  },
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
    async (_client, _server, { client, server, signsIn, args = () => [], ...person }) => {
      const [official, compat] = await Promise.all(
        (['official', 'compat'] as const).map(async (side) => {
          const serving = await start('official', { server, ports: signsIn !== undefined, args: signsIn ?? [] });
          const [port = 0] = serving.ports;
          const url = `http://localhost:${port}/mcp`;
          const printed = await programs.run(side, client, port, { args: args(url), env: { MCP_URL: url }, ...person });
          await serving.stop();
          const lines = withoutChance(printed)
            .replaceAll(/[\da-f]{32}|[\da-f]{8}-[\da-f](?=\.\.\.)|(?<=code_challenge=)[\w-]+|(?<=localhost%3A)\d+(?=%2Fmcp)/g, '<id>')
            // A notification prints a prompt wherever it comes.
            .replaceAll(/^(?:> )+/gm, '')
            .split('\n');
          // Whether a client sees a short task at work is a matter of time.
          const isLeftOut = (line: string): boolean => ['', 'working'].includes(line.trim()) || DIFFERS_ON_PURPOSE.test(line);
          return lines.filter((line) => !isLeftOut(line)).toSorted();
        }),
      );
      expect(compat).toEqual(official);
      expect(compat?.length).toBeGreaterThan(1);
      if (signsIn) expect(compat).toContain('✅ Connected successfully');
      count('clients');
    },
  );
});

/** An authorization server for clients without a user, and an MCP server that takes its tokens, at one address. */
async function serveWithCredentials(): Promise<{ readonly url: string; close(): Promise<void> }> {
  const server = new McpServer({ name: 'protected', version: '1.0.0' });
  server.registerTool('add', {}, () => 'done');
  const handler = createHttpHandler(server);
  const http = createServer((request, response) => {
    const { url = '', headers } = request;
    const json = (status: number, body: object, more = {}): void =>
      void response.writeHead(status, { 'content-type': 'application/json', ...more }).end(JSON.stringify(body));
    const issuer = `http://localhost:${(http.address() as AddressInfo).port}`;
    if (url.startsWith('/.well-known/oauth-protected-resource')) json(200, { resource: `${issuer}/mcp`, authorization_servers: [issuer] });
    else if (url.startsWith('/.well-known/'))
      json(200, {
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        response_types_supported: ['code'],
        token_endpoint_auth_methods_supported: ['client_secret_basic'],
      });
    else if (url === '/token') {
      const isKnown = headers.authorization === `Basic ${btoa('ada:secret')}`;
      json(isKnown ? 200 : 401, isKnown ? { access_token: 'good', token_type: 'Bearer' } : { error: 'invalid_client' });
    } else if (headers.authorization === 'Bearer good') void handler.node(request, response);
    else json(401, {}, { 'www-authenticate': `Bearer resource_metadata="${issuer}/.well-known/oauth-protected-resource/mcp"` });
  });
  http.listen(0);
  await once(http, 'listening');
  const close = async (): Promise<void> => {
    await handler.close();
    http.closeAllConnections();
    http.close();
  };
  return { url: `http://localhost:${(http.address() as AddressInfo).port}`, close };
}

it.each(['secret', 'wrong'])('signs a client in without a user, as the original does: secret "%s"', async (secret) => {
  const { url, close } = await serveWithCredentials();
  const env = { MCP_CLIENT_ID: 'ada', MCP_CLIENT_SECRET: secret, MCP_SERVER_URL: `${url}/mcp`, MCP_EXPECTED_ISSUER: url };
  const [official, compat] = await Promise.all(
    (['official', 'compat'] as const).map((side) => programs.run(side, 'simpleClientCredentials', Number(new URL(url).port), { env })),
  );
  await close();
  expect(compat).toBe(official);
  expect(compat?.includes('Available tools: add')).toBe(secret === 'secret');
  count('clients');
});
