/** What a client does with each shipped HTTP server of SDK v1, and the record of all that it sees. Two records must be equal. */

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { type OAuthClientProvider, UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  CallToolResultSchema,
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ElicitationCompleteNotificationSchema,
  LoggingMessageNotificationSchema,
  ResourceListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';

/** What a scenario did and saw. */
export type TranscriptEntry = readonly [what: string, seen: unknown];

/** One client with a record of what it sees. */
export class Recorder {
  readonly transcript: TranscriptEntry[] = [];
  readonly client: Client;
  /** Called with each notification. */
  onNotification: (() => void) | undefined;

  constructor() {
    const capabilities = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };
    this.client = new Client({ name: 'recorder', version: '1.0.0' }, { capabilities });
    this.client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
      this.#note('elicitation', params);
      const isUrl = 'mode' in params && params.mode === 'url';
      return isUrl ? { action: 'decline' } : { action: 'accept', content: fillIn(params as FormRequest) };
    });
    this.client.setRequestHandler(CreateMessageRequestSchema, ({ params }) => {
      this.#note('sampling', params);
      return { model: 'none', role: 'assistant', content: { type: 'text', text: 'A frog jumps in' } };
    });
    const schemas = [LoggingMessageNotificationSchema, ResourceListChangedNotificationSchema, ElicitationCompleteNotificationSchema];
    for (const schema of schemas)
      this.client.setNotificationHandler(schema as typeof LoggingMessageNotificationSchema, ({ method, params }) => {
        this.#note(method, params);
        this.onNotification?.();
      });
  }

  /** Does something and records what comes of it, an error too. */
  async step(what: string, run: () => Promise<unknown>): Promise<void> {
    try {
      this.#note(what, await run());
    } catch (error) {
      const { name, message, code, data } = error as Error & { code?: unknown; data?: unknown };
      this.#note(what, { error: name, message, code, data });
    }
  }

  call(name: string, args: Record<string, unknown> = {}): Promise<void> {
    const onprogress = (progress: unknown): void => this.#note('progress', progress);
    return this.step(`call ${name}`, () => this.client.callTool({ name, arguments: args }, undefined, { onprogress }));
  }

  /** Calls a tool as a task, and records what its stream says. */
  task(name: string, args: Record<string, unknown> = {}): Promise<void> {
    return this.step(`task ${name}`, async () => {
      const seen: unknown[] = [];
      const stream = this.client.experimental.tasks.callToolStream({ name, arguments: args }, CallToolResultSchema, {
        task: { ttl: 60_000 },
      });
      for await (const message of stream) {
        // How often the status is asked for depends on time.
        if (message.type === 'taskStatus') continue;
        seen.push(message.type === 'taskCreated' ? { type: message.type, status: message.task.status } : message);
      }
      return seen;
    });
  }

  /** Records what the server says of itself, and all that it lists. */
  async lists(): Promise<void> {
    const { client } = this;
    const capabilities = client.getServerCapabilities();
    this.#note('server', [client.getServerVersion(), capabilities, client.getInstructions()]);
    await this.step('tools', () => client.listTools());
    await this.step('prompts', () => client.listPrompts());
    await this.step('resources', () => client.listResources());
    await this.step('templates', () => client.listResourceTemplates());
    if (capabilities?.resources === undefined) return;
    for (const { uri } of (await client.listResources()).resources) await this.step(`read ${uri}`, () => client.readResource({ uri }));
  }

  #note(what: string, seen: unknown): void {
    this.transcript.push([what, seen]);
  }
}

interface FormRequest {
  readonly requestedSchema: { readonly properties: Record<string, FieldSchema>; readonly required?: readonly string[] };
}
type FieldSchema = {
  type?: string;
  maxLength?: number;
  format?: string;
  enum?: string[];
  oneOf?: { const: string }[];
  minimum?: number;
  pattern?: string;
};

/** Fills in the fields of a form that are required. */
function fillIn({ requestedSchema: { properties, required = [] } }: FormRequest): Record<string, string | number | boolean | string[]> {
  return Object.fromEntries(required.map((name) => [name, fillField(properties[name] ?? {})]));
}

function fillField({
  type,
  format,
  enum: values,
  oneOf,
  minimum = 1,
  maxLength,
  pattern,
}: FieldSchema): string | number | boolean | string[] {
  if (type === 'boolean') return true;
  if (type === 'integer' || type === 'number') return minimum;
  if (type === 'array') return [];
  if (values?.[0] !== undefined) return values[0];
  if (oneOf?.[0] !== undefined) return oneOf[0].const;
  if (format === 'email') return 'ada@example.com';
  if (format === 'date') return '2030-01-02';
  if (format === 'date-time') return '2030-01-02T10:00:00Z';
  return (pattern === undefined ? 'some text' : '12345').slice(0, maxLength);
}

/** A server's example, how to start it, and what to do with it. */
export interface Scenario {
  readonly server: string;
  readonly title: string;
  /** Whether the original loses the questions that it asks before the client listens, so that only compat's arrive. */
  readonly losesQuestions?: boolean;
  /** Whether the server keeps no sessions, so that ours does not say that it will send `list_changed`. */
  readonly isStateless?: boolean;
  /** Whether it needs ports that its environment names: for MCP and for its authorization server. */
  readonly ports?: boolean;
  readonly args?: readonly string[];
  connect(recorder: Recorder, ports: readonly number[]): Promise<Transport>;
  run(recorder: Recorder, transport: Transport, ports: readonly number[]): Promise<void>;
}

const overHttp: Scenario['connect'] = async ({ client }, [port]) => {
  const transport = new StreamableHTTPClientTransport(new URL(`http://localhost:${port}/mcp`)) as Transport;
  await client.connect(transport);
  return transport;
};

const overSse =
  (path: string): Scenario['connect'] =>
  async ({ client }, [port]) => {
    const transport = new SSEClientTransport(new URL(`http://localhost:${port}${path}`)) as Transport;
    await client.connect(transport);
    return transport;
  };

/** Signs in at the example's authorization server, which asks nobody. */
const signedIn: Scenario['connect'] = async (recorder, [port]) => {
  let code = '';
  const provider = new MemoryProvider(async (url) => {
    const response = await fetch(url, { redirect: 'manual' });
    const back = new URL(response.headers.get('location') ?? '', url);
    code = back.searchParams.get('code') ?? '';
    await recorder.step('redirect', async () => [response.status, back.origin + back.pathname, [...back.searchParams.keys()]]);
  });
  const url = new URL(`http://localhost:${port}/mcp`);
  const unsigned = await fetch(url, { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } });
  await recorder.step('challenge', async () => [unsigned.status, unsigned.headers.get('www-authenticate'), await unsigned.json()]);
  const first = new StreamableHTTPClientTransport(url, { authProvider: provider });
  await recorder.step('first connect', async () => {
    try {
      await recorder.client.connect(first as Transport);
    } catch (error) {
      return error instanceof UnauthorizedError;
    }
    return 'connected';
  });
  await first.finishAuth(code);
  await first.close();
  const transport = new StreamableHTTPClientTransport(url, { authProvider: provider }) as Transport;
  await recorder.client.connect(transport);
  await recorder.step('tokens', async () => Object.keys(provider.tokens() ?? {}).toSorted());
  return transport;
};

class MemoryProvider implements OAuthClientProvider {
  readonly redirectUrl = 'http://localhost:8090/callback';
  readonly clientMetadata = { client_name: 'recorder', redirect_uris: [this.redirectUrl], scope: 'mcp:tools' };
  readonly redirectToAuthorization: (url: URL) => Promise<void>;
  #client: ReturnType<OAuthClientProvider['clientInformation']>;
  #tokens: Parameters<OAuthClientProvider['saveTokens']>[0] | undefined;
  #verifier = '';

  constructor(redirect: (url: URL) => Promise<void>) {
    this.redirectToAuthorization = redirect;
  }

  clientInformation = (): ReturnType<OAuthClientProvider['clientInformation']> => this.#client;
  saveClientInformation = (client: ReturnType<OAuthClientProvider['clientInformation']>): void => void (this.#client = client);
  tokens = (): Parameters<OAuthClientProvider['saveTokens']>[0] | undefined => this.#tokens;
  saveTokens = (tokens: Parameters<OAuthClientProvider['saveTokens']>[0]): void => void (this.#tokens = tokens);
  saveCodeVerifier = (verifier: string): void => void (this.#verifier = verifier);
  codeVerifier = (): string => this.#verifier;
}

/** Ends the session, as v1's clients do, and uses it once more. */
async function endSession(recorder: Recorder, transport: Transport): Promise<void> {
  const http = transport as StreamableHTTPClientTransport;
  await recorder.step('terminate', async () => {
    await http.terminateSession();
    return http.sessionId;
  });
}

const stream = { interval: 20, count: 3 };

export const scenarios: readonly Scenario[] = [
  {
    server: 'jsonResponseStreamableHttp',
    title: 'JSON responses, with sessions',
    connect: overHttp,
    async run(recorder, transport) {
      await recorder.lists();
      await recorder.call('greet', { name: 'Ada' });
      await recorder.call('multi-greet', { name: 'Ada' });
      await recorder.call('greet', { name: 7 });
      await recorder.call('unknown');
      await endSession(recorder, transport);
    },
  },
  {
    server: 'elicitationFormExample',
    title: 'forms',
    connect: overHttp,
    async run(recorder, transport) {
      await recorder.lists();
      for (const name of ['register_user', 'create_event', 'update_shipping_address']) await recorder.call(name);
      await endSession(recorder, transport);
    },
  },
  {
    server: 'elicitationUrlExample',
    title: 'URLs for the user, behind a sign-in',
    losesQuestions: true,
    ports: true,
    connect: signedIn,
    async run(recorder) {
      await recorder.lists();
      await recorder.call('payment-confirm', { cartId: '7' });
      await recorder.call('third-party-auth', { param1: 'x' });
    },
  },
  {
    server: 'honoWebStandardStreamableHttp',
    title: 'web Request and Response, without sessions',
    isStateless: true,
    connect: overHttp,
    async run(recorder) {
      await recorder.lists();
      await recorder.call('greet', { name: 'Ada' });
    },
  },
  {
    server: 'simpleSseServer',
    title: 'HTTP+SSE',
    connect: overSse('/mcp'),
    async run(recorder) {
      await recorder.lists();
      await recorder.call('start-notification-stream', stream);
    },
  },
  {
    server: 'simpleStatelessStreamableHttp',
    title: 'without sessions',
    isStateless: true,
    connect: overHttp,
    async run(recorder) {
      await recorder.lists();
      await recorder.step('prompt', () => recorder.client.getPrompt({ name: 'greeting-template', arguments: { name: 'Ada' } }));
      await recorder.call('start-notification-stream', stream);
    },
  },
  {
    server: 'simpleStreamableHttp',
    title: 'everything, with sessions, events to resume and tasks',
    connect: overHttp,
    async run(recorder, transport) {
      await recorder.lists();
      await recorder.call('greet', { name: 'Ada' });
      await recorder.call('greet', {});
      await recorder.call('multi-greet', { name: 'Ada' });
      for (const infoType of ['contact', 'preferences', 'feedback']) await recorder.call('collect-user-info', { infoType });
      await recorder.step('prompt', () => recorder.client.getPrompt({ name: 'greeting-template', arguments: { name: 'Ada' } }));
      await recorder.step('no prompt', () => recorder.client.getPrompt({ name: 'unknown' }));
      await recorder.step('no resource', () => recorder.client.readResource({ uri: 'file:///none' }));
      await recorder.call('start-notification-stream', stream);
      await recorder.call('list-files', { includeDescriptions: true });
      await recorder.task('delay', { duration: 100 });
      await recorder.task('collect-user-info-task', { infoType: 'contact' });
      await endSession(recorder, transport);
    },
  },
  {
    server: 'simpleStreamableHttp',
    title: 'a sign-in in front of everything',
    ports: true,
    args: ['--oauth', '--oauth-strict'],
    connect: signedIn,
    async run(recorder, transport) {
      await recorder.call('greet', { name: 'Ada' });
      await endSession(recorder, transport);
    },
  },
  {
    server: 'simpleTaskInteractive',
    title: 'tasks that ask, on the low-level server',
    connect: overHttp,
    async run(recorder) {
      await recorder.step('tools', () => recorder.client.listTools());
      await recorder.task('confirm_delete', { filename: 'a.txt' });
      await recorder.task('write_haiku', { topic: 'frogs' });
      await recorder.call('confirm_delete', { filename: 'a.txt' });
    },
  },
  {
    server: 'sseAndStreamableHttpCompatibleServer',
    title: 'both transports: Streamable HTTP',
    connect: overHttp,
    async run(recorder) {
      await recorder.lists();
      await recorder.call('start-notification-stream', stream);
    },
  },
  {
    server: 'sseAndStreamableHttpCompatibleServer',
    title: 'both transports: HTTP+SSE',
    connect: overSse('/sse'),
    async run(recorder) {
      await recorder.lists();
      await recorder.call('start-notification-stream', stream);
    },
  },
  {
    server: 'ssePollingExample',
    title: 'a stream that the server closes, and the client resumes',
    connect: overHttp,
    async run(recorder) {
      await recorder.lists();
      await recorder.call('long-task');
    },
  },
  {
    server: 'standaloneSseWithGetStreamableHttp',
    title: 'list changes on the GET stream',
    connect: overHttp,
    async run(recorder) {
      const changed = new Promise<void>((resolve) => (recorder.onNotification = resolve));
      await recorder.step('resources', () => recorder.client.listResources());
      await changed;
      await recorder.step('resources', async () => (await recorder.client.listResources()).resources.length);
    },
  },
];
