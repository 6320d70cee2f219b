/** Two machines over one Redis: what belongs to one caller is refused to another, on either machine. */

import { McpClient } from '@mortise/client';
import { taskClient } from '@mortise/tasks/client';
import { httpTransport } from '@mortise/transport-http/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Engine } from '../src/engine.ts';
import { type Machine, startMachine } from '../src/node.ts';
import { openStores } from '../src/stores.ts';
import { hasRedis } from './has-redis.ts';

const info = { name: 'test', version: '1.0.0' };

describe.skipIf(!hasRedis)('what belongs to one caller', () => {
  const engine = new Engine('redis');
  const machines: Machine[] = [];

  beforeAll(async () => {
    await engine.open();
    for (let n = 0; n < 2; n++) machines.push(await startMachine({ stores: await openStores(engine.url, 'test'), secret: 'of the test' }));
  });
  afterAll(async () => {
    for (const machine of machines) await machine.leave();
    await engine.close();
  });

  const urlOf = (machine: Machine | undefined): string => `http://127.0.0.1:${machine?.port ?? 0}/mcp`;
  const headersOf = (user: string): Record<string, string> => ({ authorization: `Bearer ${user}`, 'content-type': 'application/json' });
  const post = (machine: Machine | undefined, user: string, body: object, more: Record<string, string> = {}): Promise<Response> =>
    fetch(urlOf(machine), {
      method: 'POST',
      headers: { ...headersOf(user), accept: 'application/json, text/event-stream', ...more },
      body: JSON.stringify({ jsonrpc: '2.0', ...body }),
    });

  it('is refused to another on each machine: a session, and the events of its streams', async () => {
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: info };
    const opened = await post(machines[0], 'ann', { id: 1, method: 'initialize', params });
    const session = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '', 'mcp-protocol-version': '2025-11-25' };
    const events = await opened.text();
    const [, lastEventId = 'none'] = /^id: (.*)$/m.exec(events) ?? [];
    expect((await post(machines[0], 'ann', { method: 'notifications/initialized' }, session)).status).toBe(202);
    for (const machine of machines) {
      expect((await post(machine, 'bob', { id: 2, method: 'ping' }, session)).status).toBe(404);
      const get = await fetch(urlOf(machine), {
        headers: { ...headersOf('bob'), ...session, accept: 'text/event-stream', 'last-event-id': lastEventId },
      });
      expect(get.status).toBe(404);
      expect((await fetch(urlOf(machine), { method: 'DELETE', headers: { ...headersOf('bob'), ...session } })).status).toBe(404);
      expect((await post(machine, 'ann', { id: 3, method: 'ping' }, session)).status).toBe(200);
    }
  });

  it('is refused to another on each machine: a task', async () => {
    const open = async (user: string, machine: Machine | undefined) => {
      const tasks = taskClient();
      const transport = httpTransport(urlOf(machine), { headers: { authorization: `Bearer ${user}` } });
      const elicitation = () => ({ action: 'accept' as const, content: { text: 'yes' } });
      return { tasks, client: await McpClient.connect(transport, info, { extensions: [tasks], elicitation }) };
    };
    const ann = await open('ann', machines[0]);
    const { id = '' } = await ann.tasks.start('work', { key: 'k' });
    for (const machine of machines) {
      const bob = await open('bob', machine);
      await expect(bob.tasks.resumeTask(id).status()).rejects.toMatchObject({ code: 'ERR_TASK_NOT_FOUND' });
      await expect(bob.tasks.resumeTask(id).cancel()).rejects.toMatchObject({ code: 'ERR_TASK_NOT_FOUND' });
      await bob.client.close();
    }
    const there = await open('ann', machines[1]);
    expect((await there.tasks.resumeTask(id).result()).isError).not.toBe(true);
    await there.client.close();
    await ann.client.close();
  });

  it('is refused to another on each machine: the state of a call that asks', async () => {
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': info,
      'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
    };
    const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'ask' };
    const ask = async (machine: Machine | undefined, user: string, more: object): Promise<Record<string, Record<string, unknown>>> => {
      const params = { name: 'ask', arguments: { question: 'Go on?' }, _meta: meta, ...more };
      return (await post(machine, user, { id: 1, method: 'tools/call', params }, headers)).json() as never;
    };
    const { result = {} } = await ask(machines[0], 'ann', {});
    expect(result).toMatchObject({ resultType: 'input_required' });
    const [key = ''] = Object.keys(result['inputRequests'] as object);
    const given = { requestState: result['requestState'], inputResponses: { [key]: { action: 'accept', content: { text: 'yes' } } } };
    for (const machine of machines) expect(await ask(machine, 'bob', given)).toMatchObject({ error: { code: -32602 } });
    expect(await ask(machines[1], 'ann', given)).toMatchObject({ result: { content: [{ text: 'yes' }] } });
  });
});
