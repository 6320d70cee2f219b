/** What Mortise's client does with servers written with the official SDKs, whatever carries the messages. */

import type { ClientOptions, McpClient } from '@mortise/client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

/** What the client answers when it is asked. */
export const answers: ClientOptions = {
  elicitation: () => ({ action: 'accept', content: { name: 'Ann' } }),
  sampling: () => ({ role: 'assistant', model: 'scripted', content: { type: 'text', text: 'fine' } }),
  roots: [{ uri: 'file:///home/ann' }],
};

/** One server on one kind of connection. */
export interface OfficialServer {
  readonly name: string;
  readonly era: 'legacy' | 'modern';
  /** Whether one server object answers all requests, and remembers what earlier ones did. @default true */
  readonly hasMemory?: boolean;
  open(): Promise<McpClient>;
}

/** Describes every case with one server. */
export function describeOfficialServer({ name, era, hasMemory = true, open }: OfficialServer): void {
  describe(`official server ${name}`, () => {
    let client: McpClient;
    beforeEach(async () => {
      client = await open();
    });
    afterEach(() => client.close());

    it('is spoken to in its era', () => {
      expect(client.era).toBe(era);
    });

    it('lists tools and answers a call with structured output', async () => {
      expect((await collect(client.tools())).map((tool) => tool.name)).toContain('add');
      const result = await client.callTool('add', { a: 2, b: 3 });
      expect(result.content).toMatchObject([{ type: 'text', text: '{"sum":5}' }]);
      expect(result.structuredContent).toEqual({ sum: 5 });
    });

    it('gives a tool error as a result', async () => {
      expect(await client.callTool('fail')).toMatchObject({ isError: true, content: [{ text: 'it failed' }] });
    });

    // A legacy server without a session has nothing to ask on.
    it.runIf(hasMemory || era === 'modern')('asks for the model and the roots, and by a form where the revision has them', async () => {
      const kinds = client.revision.rules.elicitation === 'none' ? ['model', 'roots'] : ['form', 'model', 'roots'];
      const told = { form: 'form: Ann', model: 'model: fine', roots: 'roots: file:///home/ann' };
      const { content } = await client.callTool('ask', { kinds });
      expect(content).toEqual([{ type: 'text', text: kinds.map((kind) => told[kind as keyof typeof told]).join(', ') }]);
    });

    it('gives resources, templates, prompts and completions, page by page', async () => {
      expect((await collect(client.resources())).map((resource) => resource.uri)).toEqual([
        'item://1',
        'item://2',
        'item://3',
        'item://4',
        'item://5',
      ]);
      expect((await client.readResource('item://3')).contents).toMatchObject([{ text: 'text of item-3' }]);
      expect((await collect(client.resourceTemplates())).map((template) => template.uriTemplate)).toEqual(['greet://{name}']);
      expect((await client.readResource('greet://Ada')).contents).toMatchObject([{ text: 'Hello, Ada' }]);
      expect((await collect(client.prompts())).map((prompt) => prompt.name)).toEqual(['ask']);
      expect((await client.getPrompt('ask', { topic: 'maths' })).messages).toMatchObject([{ content: { text: 'Tell me about maths' } }]);
      const { completion } = await client.complete({ ref: { type: 'ref/prompt', name: 'ask' }, argument: { name: 'topic', value: 'mu' } });
      expect(completion.values).toEqual(['music']);
    });

    it('sends progress', async () => {
      const seen: number[] = [];
      const done = await client.callTool('slow', { steps: 5 }, { onProgress: ({ progress }) => seen.push(progress) });
      expect(done.content).toMatchObject([{ text: 'done' }]);
      expect(seen).toEqual([1, 2, 3, 4, 5]);
    });

    it.runIf(hasMemory)('notices a cancelled call', async () => {
      const controller = new AbortController();
      const call = client.callTool(
        'slow',
        { steps: 1000 },
        { signal: controller.signal, onProgress: () => controller.abort(new Error('enough')) },
      );
      await expect(call).rejects.toThrow('enough');
      await expect.poll(async () => (await client.callTool('was_cancelled')).content).toMatchObject([{ text: 'true' }]);
    });

    it.runIf(era === 'legacy' && hasMemory)('tells of changed tools, log messages and resources', async () => {
      const logged: unknown[] = [];
      client.onLog(({ data }) => logged.push(data));
      const updated = new Promise<string>((resolve) => client.onResourceUpdated(({ uri }) => resolve(uri)));
      const changed = new Promise<void>((resolve) => client.onToolsChanged(() => resolve()));
      await client.setLoggingLevel('error');
      await client.callTool('log');
      await client.subscribeResource('item://1');
      await client.callTool('touch');
      expect(await updated).toBe('item://1');
      expect(logged).toEqual(['great trouble']);
      await client.unsubscribeResource('item://1');
      await client.callTool('hide_add');
      await changed;
      expect((await collect(client.tools())).map((tool) => tool.name)).not.toContain('add');
    });

    it.runIf(era === 'modern' && hasMemory)('tells of changed tools and resources over a subscription', async () => {
      const heard: string[] = [];
      for await (const event of client.listen({ toolsListChanged: true, resourceSubscriptions: ['item://1'] })) {
        heard.push(event.method);
        if (event.method === 'notifications/subscriptions/acknowledged') await client.callTool('touch');
        if (event.method === 'notifications/resources/updated') await client.callTool('hide_add');
        if (event.method === 'notifications/tools/list_changed') break;
      }
      expect(heard.at(-1)).toBe('notifications/tools/list_changed');
    });
  });
}

/** Describes the use of the reference server that has everything. */
export function describeEverythingServer(name: string, open: () => Promise<McpClient>): void {
  describe(`the reference everything server ${name}`, () => {
    let client: McpClient;
    beforeEach(async () => {
      client = await open();
    });
    afterEach(() => client.close());

    it('is found to be of the legacy era, and answers every list', async () => {
      expect(client.era).toBe('legacy');
      expect((await collect(client.tools())).length).toBeGreaterThan(5);
      expect((await collect(client.resources())).length).toBeGreaterThan(0);
      expect((await collect(client.prompts())).length).toBeGreaterThan(0);
      expect((await collect(client.resourceTemplates())).length).toBeGreaterThan(0);
    });

    it('echoes, gives structured content, reports progress and stops when told', async () => {
      expect((await client.callTool('echo', { message: 'hello' })).content).toMatchObject([{ text: expect.stringContaining('hello') }]);
      const tools = (await collect(client.tools())).map((tool) => tool.name);
      expect(tools).toContain('get-structured-content');
      const weather = await client.callTool('get-structured-content', { location: 'New York' });
      expect(weather.structuredContent).toMatchObject({ temperature: expect.any(Number) });
      const seen: number[] = [];
      await client.callTool(
        'trigger-long-running-operation',
        { duration: 0.5, steps: 3 },
        { onProgress: ({ progress }) => seen.push(progress) },
      );
      expect(seen.at(-1)).toBe(3);
      const controller = new AbortController();
      const long = client.callTool(
        'trigger-long-running-operation',
        { duration: 60, steps: 600 },
        { signal: controller.signal, onProgress: () => controller.abort(new Error('enough')) },
      );
      await expect(long).rejects.toThrow('enough');
    });

    it('reads a resource and gives a prompt', async () => {
      const [resource] = await collect(client.resources());
      expect((await client.readResource(resource?.uri ?? '')).contents.length).toBeGreaterThan(0);
      const [prompt] = await collect(client.prompts());
      expect((await client.getPrompt(prompt?.name ?? '')).messages.length).toBeGreaterThan(0);
    });
  });
}
