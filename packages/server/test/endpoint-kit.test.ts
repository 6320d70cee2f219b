import type { JsonRpcRequest } from '@mortise/jsonrpc-core';
import { McpServer } from '@mortise/server';
import type { Call, LegacySession, McpEndpoint } from '@mortise/protocol/contracts';
import { runCases } from '@mortise/transport-testkit';
import { mcpEndpointCases, type McpEndpointSubject } from '@mortise/transport-testkit/mcp-endpoint';
import { describeKit } from '@mortise/transport-testkit/vitest';
import { describe, expect, it } from 'vitest';

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: 'kit', version: '1.0.0' },
};

function modern(id: string | number, method: string, params: Record<string, unknown> = {}): JsonRpcRequest {
  return { jsonrpc: '2.0', id, method, params: { ...params, _meta: { ...META, progressToken: `token of ${String(id)}` } } };
}

function createSubject(): McpEndpointSubject {
  const server = new McpServer({ name: 'kit', version: '1.0.0' });
  const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] } as const;
  server.registerTool('tell', { inputSchema: text }, async (args) => {
    await new Promise((resolve) => setImmediate(resolve));
    return JSON.stringify({ told: args['text'] });
  });
  server.registerTool('report', {}, async (ctx) => {
    for (const step of [1, 2, 3]) await ctx.progress(step, 3);
    return 'done';
  });
  server.registerTool(
    'wait',
    {},
    (ctx) =>
      new Promise((resolve) => {
        ctx.signal.addEventListener('abort', () => {
          void ctx.progress(1, 1);
          resolve('too late');
        });
      }),
  );
  const call = (id: string | number, name: string, args: Record<string, unknown> = {}): JsonRpcRequest =>
    modern(id, 'tools/call', { name, arguments: args });
  return {
    endpoint: server,
    tell: (id, told) => call(id, 'tell', { text: told }),
    report: (id) => call(id, 'report'),
    wait: (id) => call(id, 'wait'),
    refused: {
      'of an unknown method': modern('a', 'no/such'),
      'of an unknown tool': call('b', 'nothing'),
      'without _meta': { jsonrpc: '2.0', id: 0, method: 'tools/list', params: {} },
      'of an unknown revision': {
        jsonrpc: '2.0',
        id: -1,
        method: 'tools/list',
        params: { _meta: { ...META, 'io.modelcontextprotocol/protocolVersion': '1999-01-01' } },
      },
    },
    initialize: {
      jsonrpc: '2.0',
      id: 'i',
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'kit', version: '1.0.0' } },
    },
    legacy: (id) => ({ jsonrpc: '2.0', id, method: 'tools/list', params: {} }),
    close: () => server.close(),
  };
}

describeKit('McpServer', mcpEndpointCases, { create: async () => createSubject() });

/** The server with one thing changed. */
function change(endpoint: McpEndpoint, changes: Partial<McpEndpoint>): McpEndpoint {
  return {
    handle: endpoint.handle.bind(endpoint),
    openSession: endpoint.openSession.bind(endpoint),
    paramHeaders: endpoint.paramHeaders.bind(endpoint),
    nameParam: endpoint.nameParam.bind(endpoint),
    ...changes,
  };
}

const note = { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'late' } } as const;

/** A call that its endpoint takes to be somebody else's, or another one's. */
function disguise(call: Call, changes: Partial<Call>): Call {
  return Object.create(call, Object.getOwnPropertyDescriptors(changes)) as Call;
}

function changeSession(session: LegacySession, changes: Partial<LegacySession>): LegacySession {
  return {
    state: session.state,
    ready: session.ready,
    receive: session.receive.bind(session),
    restore: session.restore.bind(session),
    announceAll: session.announceAll.bind(session),
    close: session.close.bind(session),
    ...changes,
  };
}

const faults: readonly { readonly id: string; readonly fault: string; breakIt(own: McpEndpoint): Partial<McpEndpoint> }[] = [
  {
    id: 'E1.1',
    fault: 'rejects',
    breakIt: (own) => ({
      async handle(request, call) {
        const answer = await own.handle(request, call);
        if ('error' in answer) throw new Error('refused');
        return answer;
      },
    }),
  },
  {
    id: 'E1.2',
    fault: 'sends after its answer',
    breakIt: (own) => ({
      async handle(request, call) {
        const answer = await own.handle(request, call);
        setImmediate(() => void call.send(note));
        return answer;
      },
    }),
  },
  {
    id: 'E2.1',
    fault: 'gives one answer to all calls of an id',
    breakIt(own) {
      const answers = new Map<unknown, ReturnType<McpEndpoint['handle']>>();
      return {
        handle(request, call) {
          const answer = answers.get(request.id) ?? own.handle(request, call);
          answers.set(request.id, answer);
          return answer;
        },
      };
    },
  },
  {
    id: 'E2.2',
    fault: 'takes ids for texts',
    breakIt: (own) => ({ handle: async (request, call) => ({ ...(await own.handle(request, call)), id: String(request.id) }) }),
  },
  {
    id: 'E3.1',
    fault: 'sends after an abort',
    breakIt: (own) => ({
      handle(request, call) {
        call.signal.addEventListener('abort', () => void call.send(note));
        return own.handle(request, call);
      },
    }),
  },
  {
    id: 'E4.1',
    fault: 'does not look at principals',
    breakIt: (own) => ({
      openSession(link, saved) {
        const session = own.openSession(link, saved);
        const receive: LegacySession['receive'] = (message, call) =>
          session.receive(message, disguise(call, { principal: link.principal }));
        return changeSession(session, { receive });
      },
    }),
  },
  {
    id: 'E5.1',
    fault: 'keeps what JSON cannot hold',
    breakIt: (own) => ({
      openSession(link, saved) {
        const session = own.openSession(link, saved);
        return changeSession(session, {
          get state() {
            return { ...session.state, openedAt: new Date(0) } as never;
          },
        });
      },
    }),
  },
  {
    id: 'E5.2',
    fault: 'takes any layout',
    breakIt: (own) => ({ openSession: (link, saved) => own.openSession(link, saved && { ...saved, layout: 1 }) }),
  },
  {
    id: 'E5.3',
    fault: 'restores nothing',
    breakIt: (own) => ({ openSession: (link, saved) => changeSession(own.openSession(link, saved), { restore: () => undefined }) }),
  },
];

describe('the kit fails an endpoint that', () => {
  it.each(faults)('$fault, by $id', async ({ id, breakIt }) => {
    const create = async (): Promise<McpEndpointSubject> => {
      const subject = createSubject();
      return { ...subject, endpoint: change(subject.endpoint, breakIt(subject.endpoint)) };
    };
    const results = await runCases(mcpEndpointCases, { create });
    expect(results.filter(({ outcome }) => outcome === 'failed').map((result) => result.id)).toContain(id);
  });
});
