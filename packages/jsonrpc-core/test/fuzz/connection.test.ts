/**
 * Throws random messages at a connection, before and after its own requests, and counts: every request with a readable id
 * gets exactly one answer, or none if it was cancelled while it was served.
 */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  createInMemoryPair,
  type JsonObject,
  type JsonRpcMessage,
  type JsonRpcRequest,
  ParseError,
  ProtocolError,
  type RequestId,
  type Transport,
} from '../../src/index.ts';
import { isRequestId, serializeMessage } from '../../src/messages.ts';
import { Connection, type InboundCall, type RequestOutcome, type RequestParams } from '../../src/connection.ts';
import { type TransportHooks, wrapTransport } from '../../src/wrap.ts';
import { defer, outcomeOf, result, turn } from '../support/raw-peer.ts';

const RUNS = 700;
const MAX_STEPS = 60;

const ids = fc.oneof(fc.constantFrom<unknown>(0, 1, 2, 3, '0', '1', 'a', '', -1, null, 1.5, true, undefined), fc.jsonValue());
const methods = fc.constantFrom(
  'sync',
  'async',
  'slow',
  'throw',
  'reject',
  'protocol',
  'bigint',
  'nothing',
  'number',
  'wrong-id',
  'notify',
  'ask',
);
const params = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom<unknown>(undefined, {}, { _meta: { progressToken: 1 } }) },
  { weight: 1, arbitrary: fc.jsonValue() },
);
const readableIds = fc.constantFrom<unknown>(0, 1, 2, 3, '0', '1', 'a', '', 99);

const requests = fc.record({ jsonrpc: fc.constant('2.0'), id: readableIds, method: methods, params });
const cancellations = readableIds.map((requestId) => ({
  jsonrpc: '2.0',
  method: 'notifications/cancelled',
  params: { requestId, reason: 'r' },
}));
const progress = readableIds.map((progressToken) => ({
  jsonrpc: '2.0',
  method: 'notifications/progress',
  params: { progressToken, progress: 1 },
}));
const notifications = fc.record({ jsonrpc: fc.constant('2.0'), method: fc.constantFrom('x', 'throw'), params });
const results = readableIds.map((id) => ({ jsonrpc: '2.0', id, result: {} }));
const errors = fc.record({
  jsonrpc: fc.constant('2.0'),
  id: ids,
  error: fc.constantFrom<unknown>({ code: 1, message: 'm' }, { code: 'x' }, 1),
});
const oddRequests = fc.record(
  { jsonrpc: fc.constantFrom<unknown>('2.0', '1.0', 2), id: ids, method: fc.oneof(methods, fc.jsonValue()), params: fc.jsonValue() },
  { requiredKeys: [] },
);
const single = fc.oneof(
  { weight: 6, arbitrary: requests },
  { weight: 2, arbitrary: cancellations },
  { weight: 1, arbitrary: progress },
  { weight: 1, arbitrary: notifications },
  { weight: 2, arbitrary: results },
  { weight: 1, arbitrary: errors },
  { weight: 2, arbitrary: oddRequests },
  { weight: 1, arbitrary: fc.jsonValue() },
);
const steps = fc.oneof(
  { weight: 8, arbitrary: single.map((value) => ({ kind: 'send' as const, value: value as unknown })) },
  { weight: 1, arbitrary: fc.array(single, { maxLength: 5 }).map((value) => ({ kind: 'send' as const, value: value as unknown })) },
  { weight: 1, arbitrary: fc.constant({ kind: 'unparsable' as const }) },
  { weight: 2, arbitrary: fc.constant({ kind: 'turn' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'request' as const }) },
);

type Step =
  | { readonly kind: 'send'; readonly value: unknown }
  | { readonly kind: 'unparsable' }
  | { readonly kind: 'turn' }
  | { readonly kind: 'request' };

/** What came and what went, by id, with the id's JSON type in the key. */
class Ledger {
  readonly #counts = new Map<string, number>();

  add(id: unknown, by = 1): void {
    const key = JSON.stringify(id);
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + by);
  }

  toObject(): Record<string, number> {
    return Object.fromEntries([...this.#counts].filter(([, count]) => count !== 0).sort());
  }
}

class Subject {
  readonly due = new Ledger();
  readonly #calls: InboundCall[] = [];
  readonly #gate = defer<undefined>();

  readonly onRequest = (message: JsonRpcRequest, call: InboundCall): RequestOutcome => {
    this.#calls.push(call);
    switch (message.method) {
      case 'sync':
        return result(message.id);
      case 'slow':
        return this.#gate.promise.then(() => result(message.id));
      case 'throw':
        throw new Error('thrown');
      case 'reject':
        return Promise.reject(new Error('rejected'));
      case 'protocol':
        throw new ProtocolError(-32602, 'bad', { n: 1n } as unknown as JsonObject);
      case 'bigint':
        return Promise.resolve(result(message.id, { n: 1n } as unknown as JsonObject));
      case 'nothing':
        return undefined;
      case 'number':
        return 42 as unknown as RequestOutcome;
      case 'wrong-id':
        return result('another');
      case 'notify':
        return call.notify('notifications/message').then(() => result(message.id));
      case 'ask':
        return this.track((params) => call.request('question', params)).then(
          (answer) => result(message.id, answer),
          () => result(message.id),
        );
      default:
        return Promise.resolve().then(() => result(message.id));
    }
  };

  /** What is neither request nor answer is the answer to a call of ours that waits for its id, and then calls for none. */
  track<T>(send: (params: RequestParams) => Promise<T>): Promise<T> {
    let own: RequestId = 0;
    const outcome = send((id = 0) => {
      // The token is the id.
      own = id;
      return { _meta: { progressToken: id } };
    });
    outcome.catch((error: Error) => {
      if (error.message.endsWith('has neither a result nor an error')) this.due.add(own, -1);
    });
    return outcome;
  }

  openGate(): void {
    this.#gate.resolve(undefined);
  }

  /** Requests that were cancelled while they were served need no answer. */
  settleCancelled(): void {
    for (const call of this.#calls) if (call.isCancelled) this.due.add(call.message.id, -1);
  }
}

/** Says which answers a value from the peer calls for. */
function countDue(value: unknown, due: Ledger, isBatchingOn: boolean): void {
  if (Array.isArray(value) && isBatchingOn && value.length > 0) {
    for (const member of value) countDueOfOne(member, due);
  } else countDueOfOne(value, due);
}

function countDueOfOne(value: unknown, due: Ledger): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return due.add(null);
  const { id, method } = value as Record<string, unknown>;
  const hasMethod = Object.hasOwn(value, 'method');
  if (!hasMethod && (Object.hasOwn(value, 'result') || Object.hasOwn(value, 'error'))) return;
  if (hasMethod && typeof method === 'string' && !Object.hasOwn(value, 'id')) return;
  due.add(isRequestId(id) ? id : null);
}

/** A pair whose far end may send anything, while what the near end sends goes through JSON as on a wire. */
function createPair(): readonly [Transport, Transport] {
  const [near, far] = createInMemoryPair({ info: { bytes: 10 } });
  const send: TransportHooks['send'] = async (message, options, next) =>
    next(JSON.parse(serializeMessage(message)) as JsonRpcMessage, options);
  return [wrapTransport<Transport>(near, { send }), far];
}

async function run(script: readonly Step[], isBatchingOn: boolean, maxInFlightBytes: number): Promise<void> {
  const subject = new Subject();
  const [near, far] = createPair();
  const connection = new Connection(near, {
    onRequest: subject.onRequest,
    rules: { isBatchingOn, isErrorIdOptional: false, isAnswering: true },
    onNotification: failAtThrow,
    maxInFlightBytes,
  });
  const answers = new Ledger();
  far.onmessage = (message: JsonRpcMessage) => {
    for (const one of Array.isArray(message) ? (message as JsonRpcMessage[]) : [message]) if (!('method' in one)) answers.add(one.id);
  };
  await Promise.all([connection.start(), far.start()]);
  const own: Promise<unknown>[] = [];
  for (const step of script) {
    if (step.kind === 'turn') await turn();
    else if (step.kind === 'request') own.push(outcomeOf(subject.track((params) => connection.request('ours', params))));
    else if (step.kind === 'unparsable') {
      near.onerror?.(new ParseError('garbage'));
      subject.due.add(null);
    } else {
      const value = JSON.parse(JSON.stringify(step.value)) as unknown;
      countDue(value, subject.due, isBatchingOn);
      await far.send(value as JsonRpcMessage);
    }
    expect(connection.inFlightBytes).toBeLessThanOrEqual(maxInFlightBytes);
  }
  await turn();
  // Questions that handlers asked are answered with garbage, so that they end.
  for (let id = 1; id <= 200; id++) await far.send({ jsonrpc: '2.0', id, result: [] } as unknown as JsonRpcMessage);
  subject.openGate();
  await turn();
  await turn();
  subject.settleCancelled();
  expect(answers.toObject()).toEqual(subject.due.toObject());
  expect(connection.inFlight).toEqual({ inbound: 0, outbound: 0 });
  expect(connection.inFlightBytes).toBe(0);
  await connection.close();
  await Promise.all(own);
}

function failAtThrow({ method }: { readonly method: string }): void {
  if (method === 'throw') throw new Error('thrown');
}

describe('a connection under random messages', () => {
  it.each([
    [true, Infinity],
    [false, Infinity],
    [true, 50],
    [false, 50],
  ])(
    '[ROBUSTNESS-4][ROBUSTNESS-5] answers every readable id exactly once, counts no byte for ever, and never crashes or hangs (batches %s, bytes %s)',
    async (isBatchingOn, maxInFlightBytes) => {
      await fc.assert(
        fc.asyncProperty(fc.array(steps, { minLength: 10, maxLength: MAX_STEPS, size: 'max' }), (script) =>
          run(script, isBatchingOn, maxInFlightBytes),
        ),
        { numRuns: RUNS },
      );
    },
    600_000,
  );

  it('[ROBUSTNESS-5] settles every request of its own when the channel ends at any step', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(steps, { maxLength: 20 }), fc.boolean(), async (script, isOurs) => {
        const [near, far] = createPair();
        const subject = new Subject();
        let closes = 0;
        const connection = new Connection(near, { onRequest: subject.onRequest });
        void connection.closed.then(() => closes++);
        await Promise.all([connection.start(), far.start()]);
        const own: Promise<unknown>[] = [];
        for (const step of script) {
          if (step.kind === 'request') own.push(outcomeOf(connection.request('ours')));
          else if (step.kind === 'send') await far.send(JSON.parse(JSON.stringify(step.value)) as JsonRpcMessage);
          else await turn();
        }
        await (isOurs ? connection.close() : far.close());
        await connection.closed;
        await Promise.all(own);
        subject.openGate();
        await turn();
        expect([closes, connection.inFlight, connection.inFlightBytes]).toEqual([1, { inbound: 0, outbound: 0 }, 0]);
      }),
      { numRuns: 300 },
    );
  });
});
