/** `@mortise/transport-testkit/mcp-endpoint`: test cases for the guarantees E1 to E5 of an `McpEndpoint`. */

import type { JsonObject, JsonRpcNotification, JsonRpcRequest, JsonRpcResponse } from '@mortise/jsonrpc-core';
import type { Call, LegacySession, McpEndpoint, SessionLink } from '@mortise/protocol/contracts';
import { check, checkEqual, turns, within } from './check.ts';
import type { KitCase, KitSubject } from './kit-case.ts';

/** What the `McpEndpoint` cases test: an endpoint, and requests that the endpoint supports. */
export interface McpEndpointSubject extends KitSubject {
  readonly endpoint: McpEndpoint;
  /** Makes a 2026-07-28 request whose result contains `{ "told": <text> }`. */
  tell(id: string | number, text: string): JsonRpcRequest;
  /** Makes a 2026-07-28 request whose handler sends three notifications before its response. */
  report(id: string | number): JsonRpcRequest;
  /** Makes a 2026-07-28 request whose handler runs until the request is cancelled, and then sends a notification. */
  wait(id: string | number): JsonRpcRequest;
  /** 2026-07-28 requests that must get error responses, by a description of what is wrong with them. */
  readonly refused: Readonly<Record<string, JsonRpcRequest>>;
  /** An `initialize` request of a legacy revision (one with sessions). */
  readonly initialize: JsonRpcRequest;
  /** Makes a legacy request that gets a result in an initialized session. */
  legacy(id: string | number): JsonRpcRequest;
}

/** A test case for one guarantee of an `McpEndpoint`. */
export type McpEndpointCase = KitCase<McpEndpointSubject>;

interface Seen {
  readonly call: Call;
  readonly sent: (JsonRpcNotification | JsonRpcRequest)[];
  readonly abort: () => void;
}

function createCall(principal: string): Seen {
  const abort = new AbortController();
  const sent: Seen['sent'] = [];
  const call: Call = {
    principal,
    signal: abort.signal,
    get isCancelled() {
      return abort.signal.aborted;
    },
    cancel: (reason) => abort.abort(reason),
    async send(message) {
      sent.push(message);
    },
  };
  return { call, sent, abort: () => abort.abort(new Error('The test aborts this call')) };
}

function openSession({ endpoint }: McpEndpointSubject, principal: string, saved?: LegacySession['state']): LegacySession {
  const link: SessionLink = { principal, canRequest: false, send: async () => undefined };
  return endpoint.openSession(link, saved);
}

function isError(response: JsonRpcResponse | undefined): boolean {
  return response !== undefined && 'error' in response;
}

async function openInitialized(subject: McpEndpointSubject, principal: string): Promise<LegacySession> {
  const session = openSession(subject, principal);
  const answer = await session.receive(subject.initialize, createCall(principal).call);
  check(!isError(answer), `initialize should be answered with a result, but was ${JSON.stringify(answer)}`);
  await session.receive({ jsonrpc: '2.0', method: 'notifications/initialized' }, createCall(principal).call);
  return session;
}

/** Test cases for the guarantees E1 to E5 of an `McpEndpoint`. Run them with `describeKit` or `runCases`. */
export const mcpEndpointCases: readonly McpEndpointCase[] = [
  {
    id: 'E1.1',
    title: 'responds to every failure with an error for its id, and never rejects',
    async run({ endpoint, refused }) {
      check(Object.keys(refused).length > 0, 'There should be requests to refuse');
      for (const [what, request] of Object.entries(refused)) {
        const answer = await within(
          Promise.resolve(endpoint.handle(request, createCall('anyone').call)),
          `A request that is ${what} should be answered`,
        );
        checkEqual(
          [isError(answer), answer.id],
          [true, request.id],
          `Whether a request that is ${what} is answered with an error to its id`,
        );
      }
    },
  },
  {
    id: 'E1.2',
    title: 'resolves after the last notification of the call',
    async run({ endpoint, report }) {
      const { call, sent } = createCall('anyone');
      const answer = await within(Promise.resolve(endpoint.handle(report('r'), call)), 'The request should be answered');
      checkEqual(
        [isError(answer), sent.length],
        [false, 3],
        'Whether it is answered with a result, and the number of notifications before that',
      );
      await turns(20);
      checkEqual(sent.length, 3, 'The number of notifications after that');
    },
  },
  {
    id: 'E2.1',
    title: 'keeps concurrent calls apart, also with equal ids and different principals',
    async run({ endpoint, tell }) {
      const texts = Array.from({ length: 40 }, (_, n) => `call ${n}`);
      const answers = await Promise.all(texts.map((text, n) => endpoint.handle(tell(n % 2, text), createCall(`caller ${n % 3}`).call)));
      for (const [n, answer] of answers.entries()) {
        checkEqual(answer.id, n % 2, 'The id of an answer');
        check(JSON.stringify(answer).includes(JSON.stringify(texts[n]).slice(1, -1)), `The answer to "${texts[n]}" should be its own`);
      }
    },
  },
  {
    id: 'E2.2',
    title: 'treats ids of different JSON types as different',
    async run({ endpoint, tell }) {
      const answers = await Promise.all([
        endpoint.handle(tell(1, 'a'), createCall('x').call),
        endpoint.handle(tell('1', 'b'), createCall('x').call),
      ]);
      checkEqual(
        answers.map(({ id }) => id),
        [1, '1'],
        'The ids of the answers',
      );
    },
  },
  {
    id: 'E3.1',
    title: 'sends nothing after the call was aborted, and still settles',
    async run({ endpoint, wait }) {
      const { call, sent, abort } = createCall('anyone');
      const answer = Promise.resolve(endpoint.handle(wait('w'), call));
      await turns(5);
      abort();
      await within(answer, 'An aborted call should settle');
      await turns(20);
      checkEqual(sent, [], 'What is sent after the abort');
    },
  },
  {
    id: 'E4.1',
    title: 'treats a message of another principal like one to an unknown session',
    async run(subject) {
      const session = await openInitialized(subject, 'ada');
      const own = await session.receive(subject.legacy(1), createCall('ada').call);
      const other = await within(session.receive(subject.legacy(2), createCall('eve').call), 'A message of another should be answered');
      checkEqual([isError(own), isError(other)], [false, true], 'Whether the owner and another are answered with an error');
      await session.close();
    },
  },
  {
    id: 'E5.1',
    title: 'describes a session as plain JSON that another instance can continue',
    async run(subject) {
      const session = await openInitialized(subject, 'ada');
      const state = JSON.parse(JSON.stringify(session.state)) as LegacySession['state'] & JsonObject;
      checkEqual(state, session.state, 'The state, written as JSON and read again');
      await session.close();
      const again = openSession(subject, 'ada', state);
      const answer = await within(again.receive(subject.legacy(3), createCall('ada').call), 'The session should go on');
      checkEqual(isError(answer), false, 'Whether it is answered with an error');
      await again.close();
      await again.close();
    },
  },
  {
    id: 'E5.2',
    title: 'refuses session state with an unknown layout',
    async run(subject) {
      const session = await openInitialized(subject, 'ada');
      const state = { ...session.state, layout: 987_654 };
      await session.close();
      const opened = await Promise.resolve()
        .then(() => openSession(subject, 'ada', state))
        .catch(() => undefined);
      // A server may also refuse with its first response.
      const answer = await opened?.receive(subject.legacy(4), createCall('ada').call).catch(() => undefined);
      check(opened === undefined || answer === undefined || isError(answer), 'A session of an unknown layout should not go on');
      await opened?.close();
    },
  },
  {
    id: 'E5.3',
    title: 'takes over the state of a session that another instance saved',
    async run(subject) {
      const saved = await openInitialized(subject, 'ada');
      const state = JSON.parse(JSON.stringify(saved.state)) as LegacySession['state'];
      await saved.close();
      const session = openSession(subject, 'ada');
      session.restore(state);
      checkEqual(session.state, state, 'The state after it was restored');
      const answer = await within(session.receive(subject.legacy(5), createCall('ada').call), 'The session should go on');
      checkEqual(isError(answer), false, 'Whether it is answered with an error');
      await session.close();
    },
  },
];
