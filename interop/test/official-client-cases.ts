/** What the official SDKs' clients do with a server written with Mortise, whatever carries the messages. */

import { Client as ClientV2, type Transport as TransportV2 } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import type { Transport as TransportV1 } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  LoggingMessageNotificationSchema,
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

/** The part of both clients that the table needs. Their own types differ in everything that does not matter here. */
export interface OfficialClient {
  listTools(): Promise<{ tools: { name: string; outputSchema?: unknown }[] }>;
  callTool(params: object, ...more: unknown[]): Promise<ToolResult>;
  readResource(params: { uri: string }): Promise<{ contents: object[] }>;
  listResources(params?: { cursor?: string }): Promise<{ resources: { uri: string }[]; nextCursor?: string | undefined }>;
  listResourceTemplates(): Promise<{ resourceTemplates: { uriTemplate: string }[] }>;
  listPrompts(): Promise<{ prompts: { name: string }[] }>;
  getPrompt(params: { name: string; arguments: Record<string, string> }): Promise<{ messages: object[] }>;
  complete(params: object): Promise<{ completion: { values: string[] } }>;
  setLoggingLevel(level: 'error'): Promise<unknown>;
  subscribeResource(params: { uri: string }): Promise<unknown>;
  unsubscribeResource(params: { uri: string }): Promise<unknown>;
  close(): Promise<void>;
}

/** A result of either SDK. */
export interface ToolResult {
  readonly [key: string]: unknown;
}

export interface Opened {
  readonly client: OfficialClient;
  /** Calls a tool with the options object where each SDK wants it. */
  call(name: string, args: object, options?: object): Promise<ToolResult>;
  onNotification(kind: 'tools' | 'log' | 'updated', fn: (params: never) => void): void | Promise<unknown>;
}

/** One client on one kind of connection. */
export interface OfficialPeer {
  readonly name: string;
  readonly era: 'legacy' | 'modern';
  /** Whether the server can say something that answers nothing, and knows one request of a client from another. @default true */
  readonly hasChannel?: boolean;
  open(): Promise<Opened>;
}

const capabilities = { elicitation: { form: {} }, sampling: {}, roots: {} };
const userSays = { action: 'accept' as const, content: { name: 'Ann' } };
const modelSays = { role: 'assistant' as const, model: 'scripted', content: { type: 'text' as const, text: 'fine' } };
const roots = [{ uri: 'file:///home/ann' }];

/** Connects the client of the SDK v1. */
export async function openV1(transport: TransportV1): Promise<Opened> {
  const client = new ClientV1({ name: 'official-v1', version: '1.0.0' }, { capabilities });
  client.setRequestHandler(ElicitRequestSchema, () => userSays);
  client.setRequestHandler(CreateMessageRequestSchema, () => modelSays);
  client.setRequestHandler(ListRootsRequestSchema, () => ({ roots }));
  await client.connect(transport);
  return {
    client: client as unknown as OfficialClient,
    call: (name, args, options) => client.callTool({ name, arguments: { ...args } }, undefined, options),
    onNotification(kind, fn) {
      const pass = (notification: { params?: unknown }) => fn((notification.params ?? {}) as never);
      if (kind === 'tools') client.setNotificationHandler(ToolListChangedNotificationSchema, pass);
      if (kind === 'log') client.setNotificationHandler(LoggingMessageNotificationSchema, pass);
      if (kind === 'updated') client.setNotificationHandler(ResourceUpdatedNotificationSchema, pass);
    },
  };
}

/** Connects the client of the SDK v2. */
export async function openV2(transport: TransportV2, mode: 'legacy' | 'auto'): Promise<Opened> {
  const client = new ClientV2({ name: 'official-v2', version: '1.0.0' }, { versionNegotiation: { mode }, capabilities });
  client.setRequestHandler('elicitation/create', () => userSays);
  client.setRequestHandler('sampling/createMessage', () => modelSays);
  client.setRequestHandler('roots/list', () => ({ roots }));
  await client.connect(transport);
  return {
    client: client as unknown as OfficialClient,
    call: (name, args, options) => client.callTool({ name, arguments: { ...args } }, options),
    onNotification(kind, fn) {
      const pass = (notification: { params?: unknown }) => fn((notification.params ?? {}) as never);
      if (kind === 'tools') client.setNotificationHandler('notifications/tools/list_changed', pass);
      if (kind === 'log') client.setNotificationHandler('notifications/message', pass);
      if (kind === 'updated') client.setNotificationHandler('notifications/resources/updated', pass);
      if (mode === 'legacy' || kind === 'log') return undefined;
      return client.listen(kind === 'tools' ? { toolsListChanged: true } : { resourceSubscriptions: ['item://1'] });
    },
  };
}

/** Describes every case with one client. */
export function describeOfficialClient({ name, era, hasChannel = true, open }: OfficialPeer): void {
  describe(`official client ${name}`, () => {
    let opened: Opened;
    beforeEach(async () => {
      opened = await open();
    });
    afterEach(() => opened.client.close());

    it('lists tools and calls one with structured output', async () => {
      const { tools } = await opened.client.listTools();
      expect(tools.map((tool) => tool.name)).toContain('add');
      const result = await opened.call('add', { a: 2, b: 3 });
      expect(result['structuredContent']).toEqual({ sum: 5 });
    });

    it('gets a tool error as a result', async () => {
      const result = await opened.call('fail', {});
      expect(result).toMatchObject({ isError: true, content: [{ type: 'text', text: 'it failed' }] });
    });

    // Without a channel, a legacy server has nothing to ask on.
    it.runIf(hasChannel || era === 'modern')('answers what the server asks: a form, the model, the roots', async () => {
      const result = await opened.call('ask', { kinds: ['form', 'model', 'roots'] });
      expect(result['content']).toEqual([{ type: 'text', text: 'form: Ann, model: fine, roots: file:///home/ann' }]);
    });

    it('reads resources, templates and prompts, and completes both', async () => {
      const { client } = opened;
      expect((await client.readResource({ uri: 'item://3' })).contents).toMatchObject([{ uri: 'item://3', text: 'text of item-3' }]);
      expect((await client.listResourceTemplates()).resourceTemplates).toMatchObject([{ uriTemplate: 'greet://{name}' }]);
      expect((await client.readResource({ uri: 'greet://Ada' })).contents).toMatchObject([{ text: 'Hello, Ada' }]);
      expect((await client.listPrompts()).prompts).toMatchObject([{ name: 'ask' }]);
      const prompt = await client.getPrompt({ name: 'ask', arguments: { topic: 'maths' } });
      expect(prompt.messages).toMatchObject([{ role: 'user', content: { type: 'text', text: 'Tell me about maths' } }]);
      const ofPrompt = await client.complete({ ref: { type: 'ref/prompt', name: 'ask' }, argument: { name: 'topic', value: 'mu' } });
      expect(ofPrompt.completion.values).toEqual(['music']);
      const ofTemplate = await client.complete({
        ref: { type: 'ref/resource', uri: 'greet://{name}' },
        argument: { name: 'name', value: 'A' },
      });
      expect(ofTemplate.completion.values).toEqual(['Ada', 'Alan']);
    });

    it('pages through the resources', async () => {
      const uris: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await opened.client.listResources(cursor === undefined ? {} : { cursor });
        uris.push(...page.resources.map((resource) => resource.uri));
        cursor = page.nextCursor;
      } while (cursor !== undefined);
      expect(uris).toEqual(['item://1', 'item://2', 'item://3', 'item://4', 'item://5']);
    });

    it('sees progress that grows, up to the last', async () => {
      const seen: number[] = [];
      const onprogress = ({ progress }: { progress: number }): void => {
        seen.push(progress);
        // Servers whose tool ends by itself have no such tool, or have answered before.
        if (progress === 5) opened.call('finish', {}).catch(() => undefined);
      };
      const result = await opened.call('slow', { steps: 5 }, { onprogress });
      expect(result['content']).toMatchObject([{ text: 'done' }]);
      expect(seen.at(-1)).toBe(5);
      expect(seen).toEqual(seen.toSorted((one, other) => one - other));
    });

    it.runIf(hasChannel || era === 'modern')('cancels a call, and the handler notices', async () => {
      const controller = new AbortController();
      const call = opened.call('slow', { steps: 1000 }, { signal: controller.signal, onprogress: () => controller.abort('enough') });
      await expect(call).rejects.toThrow();
      await expect.poll(async () => (await opened.call('was_cancelled', {}))['content']).toMatchObject([{ text: 'true' }]);
    });

    it.runIf(hasChannel || era === 'modern')('hears that the list of tools changed after one was disabled', async () => {
      let hear: () => void = () => undefined;
      const heard = new Promise<void>((resolve) => (hear = resolve));
      await opened.onNotification('tools', () => hear());
      await opened.call('hide_add', {});
      await heard;
      expect((await opened.client.listTools()).tools.map((tool) => tool.name)).not.toContain('add');
    });

    it.runIf(era === 'legacy' && hasChannel)('sets the level of log messages, and hears of a resource that it subscribed to', async () => {
      const logged: unknown[] = [];
      void opened.onNotification('log', (params: { data: unknown }) => logged.push(params.data));
      const updated = new Promise<unknown>((resolve) => void opened.onNotification('updated', resolve));
      await opened.client.setLoggingLevel('error');
      await opened.call('log', {});
      await opened.client.subscribeResource({ uri: 'item://1' });
      await opened.call('touch', {});
      expect(await updated).toMatchObject({ uri: 'item://1' });
      expect(logged).toEqual(['great trouble']);
      await opened.client.unsubscribeResource({ uri: 'item://1' });
    });

    it.runIf(era === 'modern')('hears of a resource over a subscription', async () => {
      let hear: (params: unknown) => void = () => undefined;
      const updated = new Promise<unknown>((resolve) => (hear = resolve));
      await opened.onNotification('updated', (params) => hear(params));
      await opened.call('touch', {});
      expect(await updated).toMatchObject({ uri: 'item://1' });
    });
  });
}
