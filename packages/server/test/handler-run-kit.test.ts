/** The runs of handlers that the server makes, by the kit of their contract. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import type { HandlerRun } from '@mortise/protocol/contracts';
import { McpServer } from '@mortise/server';
import { handlerRunCases, type HandlerRunSubject } from '@mortise/transport-testkit/handler-run';
import { describeKit } from '@mortise/transport-testkit/vitest';
import { callThrough, form } from './asks/chain.ts';
import { MODERN, RawPeer, type Version } from './raw-peer.ts';

const STEP = 'notifications/step';
const answerTo = (text: string): JsonObject => ({ action: 'accept', content: { name: text } });

/** @param version The revision that its client speaks: it says which run the handler gets. */
async function createSubject(version: Version): Promise<HandlerRunSubject> {
  const server = new McpServer({ name: 'kit', version: '1.0.0' });
  let handler: (run: HandlerRun) => Promise<void> = async () => undefined;
  server.registerTool('run', {}, async (ctx) => {
    await handler(ctx.run);
    return 'done';
  });
  const peer = await RawPeer.open(server, version, { capabilities: { elicitation: { form: {} } } });
  peer.onRequest = ({ params }) =>
    params.message === 'refused' ? { error: { code: -32_000, message: 'No' } } : answerTo(String(params.message));
  return {
    async call(work) {
      handler = work;
      if (version === MODERN) await callThrough(peer);
      else await peer.callTool('run');
    },
    question: (text) => ({ method: 'elicitation/create', params: form(text) }),
    answerTo,
    // A modern client answers or comes back no more; what it cannot do is not asked.
    refused: () => (version === MODERN ? { method: 'roots/list' } : { method: 'elicitation/create', params: form('refused') }),
    notification: (step) => ({ jsonrpc: '2.0', method: STEP, params: { step } }),
    told: () => peer.notifications(STEP).map(({ params }) => Number(params.step)),
    close: async () => {
      await peer.close();
      await server.close();
    },
  };
}

describeKit('the run of a legacy session', handlerRunCases, { create: () => createSubject('2025-11-25') });
describeKit('the run of a modern exchange', handlerRunCases, { create: () => createSubject(MODERN), traits: { suspends: true } });
