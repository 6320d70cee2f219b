/** Each way to break a promise of an exchange must fail a case of that promise. */

import type { JsonRpcNotification, JsonRpcRequest, JsonRpcResponse } from '@mortise/jsonrpc-core';
import type { ExchangeOptions } from '@mortise/jsonrpc-core/transport';
import { ConnectionClosedError } from '@mortise/jsonrpc-core';
import {
  type AnswerExchange,
  exchangeCases,
  type ExchangeSetup,
  runCases,
  setPatience,
  toExchangeKitSetup,
} from '@mortise/transport-testkit';
import { describeExchange } from '@mortise/transport-testkit/vitest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

type Defect =
  | 'takes any answer'
  | 'turns errors into rejections'
  | 'reverses notifications'
  | 'tells late notifications'
  | 'rejects with an error of its own'
  | 'does not tell the peer'
  | 'asks although aborted'
  | 'rejects with any error when cut'
  | 'answers by id alone';

function createSetup(defect?: Defect): ExchangeSetup {
  return {
    traits: { cut: true },
    async createPair(answer) {
      const callers = new Map<unknown, (message: JsonRpcNotification) => void>();
      return {
        client: { exchange: (request, options) => exchange(defect, answer, callers, request, options) },
        close: async () => undefined,
      };
    },
  };
}

async function exchange(
  defect: Defect | undefined,
  answer: AnswerExchange,
  callers: Map<unknown, (message: JsonRpcNotification) => void>,
  request: JsonRpcRequest,
  { signal, onMessage }: ExchangeOptions = {},
): Promise<JsonRpcResponse> {
  if (defect !== 'asks although aborted') signal?.throwIfAborted();
  let isOver = false;
  const held: JsonRpcNotification[] = [];
  callers.set(request.id, (message) => onMessage?.(message));
  const peer = new AbortController();
  const response = await new Promise<JsonRpcResponse>((resolve, reject) => {
    signal?.addEventListener('abort', () => {
      isOver = true;
      if (defect !== 'does not tell the peer') peer.abort(signal.reason);
      reject(defect === 'rejects with an error of its own' ? new Error('aborted') : signal.reason);
    });
    const notify = (message: JsonRpcNotification): void => {
      if (isOver && defect !== 'tells late notifications') return;
      if (defect === 'reverses notifications') held.unshift(message);
      else if (defect === 'answers by id alone') callers.get(request.id)?.(message);
      else onMessage?.(message);
    };
    const cut = (): void => reject(defect === 'rejects with any error when cut' ? new Error('cut') : new ConnectionClosedError());
    answer(request, { signal: peer.signal, notify, cut }).then(resolve, reject);
  });
  isOver = true;
  for (const message of held) onMessage?.(message);
  if (response.id !== request.id && defect !== 'takes any answer') throw new Error('not the answer to this request');
  if ('error' in response && defect === 'turns errors into rejections') throw new Error(response.error.message);
  return response;
}

describeExchange('an exchange that keeps every promise', createSetup());

const defects: readonly (readonly [Defect, string])[] = [
  ['takes any answer', 'X1.3'],
  ['turns errors into rejections', 'X1.2'],
  ['reverses notifications', 'X2.1'],
  ['tells late notifications', 'X2.2'],
  ['tells late notifications', 'X3.1'],
  ['rejects with an error of its own', 'X3.1'],
  ['does not tell the peer', 'X3.2'],
  ['asks although aborted', 'X3.3'],
  ['rejects with any error when cut', 'X4.1'],
  ['answers by id alone', 'X5.1'],
];

describe('a broken exchange', () => {
  beforeAll(() => setPatience(1000));
  afterAll(() => setPatience(5000));

  it.for(defects)('that %s fails %s', async ([defect, id]) => {
    const cases = exchangeCases.filter((exchangeCase) => exchangeCase.id === id);
    const results = await runCases(cases, toExchangeKitSetup(createSetup(defect)));
    expect(results.map((result) => [result.id, result.outcome])).toEqual([[id, 'failed']]);
  });
});
