/** The exchange kit: test cases for the guarantees X1 to X5 of an `ExchangeTransport`, which sends each request on its own. */

import type { JsonObject, JsonRpcNotification, JsonRpcRequest, JsonRpcResponse, RequestId } from '@mortise/jsonrpc-core';
import type { ExchangeTransport } from '@mortise/jsonrpc-core/transport';
import { check, checkCode, checkEqual, checkRejects, turns, within } from './check.ts';
import type { KitCase, KitSetup, KitSubject } from './kit-case.ts';

/** One exchange (a request, its notifications and its response), as the server's side sees it. */
export interface AnsweredExchange {
  /** Aborts when the client aborts the exchange. */
  readonly signal: AbortSignal;
  /** Sends the client a notification that belongs to the request. */
  notify(notification: JsonRpcNotification): void | Promise<void>;
  /** Ends the stream of the exchange at once, without a response. Needed if the transport declares the trait `cut`. */
  cut?(): void | Promise<void>;
}

/** A function of the kit that responds to each request on the server's side. */
export type AnswerExchange = (request: JsonRpcRequest, exchange: AnsweredExchange) => Promise<JsonRpcResponse>;

/** What an implementer gives the exchange kit: a function that opens the transport to test, and its optional abilities. */
export interface ExchangeSetup {
  /** Opens a client's transport to a server that responds with `answer`. Both ends must be ready for use. */
  createPair(answer: AnswerExchange): Promise<ExchangePair>;
  readonly traits?: ExchangeTraits | undefined;
}

/** The client's transport of an exchange case, and a function that frees everything that was opened for the case. */
export interface ExchangePair {
  readonly client: ExchangeTransport;
  close(): Promise<void>;
}

/** Optional abilities that an exchange transport may declare to the kit. */
export interface ExchangeTraits {
  /** Whether `cut` is implemented, so that a stream can end without a response. Then the kit runs the cases of X4. */
  readonly cut?: boolean;
}

/** A test case for one guarantee of an `ExchangeTransport`. */
export type ExchangeCase = KitCase<ExchangeSubject>;

/** Opens the transports of an exchange case. `close` closes them all at the end of the case. */
export interface ExchangeSubject extends KitSubject {
  open(answer: AnswerExchange): Promise<ExchangeTransport>;
}

/** Converts an `ExchangeSetup` to the `KitSetup` that `describeKit` and `runCases` take. */
export function toExchangeKitSetup(setup: ExchangeSetup): KitSetup<ExchangeSubject> {
  return {
    traits: { ...setup.traits },
    async create() {
      const pairs: ExchangePair[] = [];
      return {
        async open(answer) {
          const pair = await setup.createPair(answer);
          pairs.push(pair);
          return pair.client;
        },
        async close() {
          await Promise.all(pairs.map((pair) => pair.close()));
        },
      };
    },
  };
}

function ask(id: RequestId, params: JsonObject = {}): JsonRpcRequest {
  return { jsonrpc: '2.0', id, method: 'kit/ask', params };
}

function say(n: number): JsonRpcNotification {
  return { jsonrpc: '2.0', method: 'kit/say', params: { n } };
}

function echo(request: JsonRpcRequest): JsonRpcResponse {
  return { jsonrpc: '2.0', id: request.id, result: { ...request.params } };
}

function numbersInto(numbers: unknown[]): (message: JsonRpcNotification) => void {
  return (message) => void numbers.push(message.params?.['n']);
}

/** Makes a JavaScript promise and a function that resolves it. */
function gate(): { readonly opened: Promise<void>; open(): void } {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

/** Test cases for the guarantees of an `ExchangeTransport`. The id of a case, such as X1.1, begins with the id of its guarantee. */
export const exchangeCases: readonly ExchangeCase[] = [
  {
    id: 'X1.1',
    title: 'resolves with the result for a request, with a string or number id',
    async run({ open }) {
      const client = await open(async (request) => echo(request));
      for (const id of [1, '1', 0, 'a-b']) {
        const response = await within(client.exchange(ask(id, { id })), 'exchange should resolve');
        checkEqual(response, { jsonrpc: '2.0', id, result: { id } }, 'The response');
      }
    },
  },
  {
    id: 'X1.2',
    title: 'resolves with the error response for a request',
    async run({ open }) {
      const error = { code: -32001, message: 'Not today', data: { why: ['a', 'b'] } };
      const client = await open(async (request) => ({ jsonrpc: '2.0', id: request.id, error }));
      checkEqual(await within(client.exchange(ask(5)), 'exchange should resolve'), { jsonrpc: '2.0', id: 5, error }, 'The response');
    },
  },
  {
    id: 'X1.3',
    title: 'never resolves with the response to another request',
    async run({ open }) {
      const client = await open(async () => ({ jsonrpc: '2.0', id: 'another', result: {} }));
      await checkRejects(client.exchange(ask(1)), 'An exchange whose response has another id');
    },
  },
  {
    id: 'X2.1',
    title: 'delivers notifications in order, before it resolves',
    async run({ open }) {
      const client = await open(async (request, exchange) => {
        for (let n = 0; n < 20; n++) await exchange.notify(say(n));
        return echo(request);
      });
      const numbers: unknown[] = [];
      await within(client.exchange(ask(1), { onMessage: numbersInto(numbers) }), 'exchange should resolve');
      checkEqual(
        numbers,
        Array.from({ length: 20 }, (_, n) => n),
        'The notifications before the response',
      );
    },
  },
  {
    id: 'X2.2',
    title: 'delivers nothing after it has resolved',
    async run({ open }) {
      const late = gate();
      const client = await open(async (request, exchange) => {
        void late.opened.then(async () => exchange.notify(say(99))).catch(() => undefined);
        return echo(request);
      });
      const numbers: unknown[] = [];
      await within(client.exchange(ask(1), { onMessage: numbersInto(numbers) }), 'exchange should resolve');
      late.open();
      await turns(20);
      checkEqual(numbers, [], 'The notifications after the response');
    },
  },
  {
    id: 'X3.1',
    title: "rejects with the signal's reason when it aborts, and delivers nothing more",
    async run({ open }) {
      const [begun, late] = [gate(), gate()];
      const client = await open(async (request, exchange) => {
        begun.open();
        await late.opened;
        await Promise.resolve(exchange.notify(say(1))).catch(() => undefined);
        return echo(request);
      });
      const controller = new AbortController();
      const reason = new Error('The test aborts this exchange');
      const numbers: unknown[] = [];
      const exchange = client.exchange(ask(1), { signal: controller.signal, onMessage: numbersInto(numbers) });
      const rejection = checkRejects(exchange, 'An aborted exchange');
      await within(begun.opened, 'The request should reach the peer');
      controller.abort(reason);
      check((await rejection) === reason, 'An aborted exchange should reject with the same reason as its signal');
      late.open();
      await turns(20);
      checkEqual(numbers, [], 'The notifications after the abort');
    },
  },
  {
    id: 'X3.2',
    title: 'tells the peer that the signal aborted',
    async run({ open }) {
      const [begun, noticed] = [gate(), gate()];
      const client = await open(async (request, { signal }) => {
        signal.addEventListener('abort', noticed.open, { once: true });
        begun.open();
        await noticed.opened;
        return echo(request);
      });
      const controller = new AbortController();
      const exchange = client.exchange(ask(1), { signal: controller.signal }).catch(() => undefined);
      await within(begun.opened, 'The request should reach the peer');
      controller.abort();
      await within(noticed.opened, "The peer's signal should abort");
      await exchange;
    },
  },
  {
    id: 'X3.3',
    title: 'rejects at once when the signal is already aborted',
    async run({ open }) {
      let count = 0;
      const client = await open(async (request) => {
        count++;
        return echo(request);
      });
      const reason = new Error('The test aborts this exchange before it begins');
      const rejection = await checkRejects(
        client.exchange(ask(1), { signal: AbortSignal.abort(reason) }),
        'An exchange aborted beforehand',
      );
      check(rejection === reason, 'An exchange aborted beforehand should reject with the same reason as its signal');
      await turns(20);
      checkEqual(count, 0, 'The requests that reach the peer');
    },
  },
  {
    id: 'X4.1',
    title: 'rejects with ConnectionClosedError when the stream ends before the response',
    needs: ['cut'],
    async run({ open }) {
      const client = await open(async (_, exchange) => {
        await exchange.notify(say(0));
        await exchange.cut?.();
        return new Promise(() => undefined);
      });
      const rejection = await checkRejects(client.exchange(ask(1), { onMessage: () => undefined }), 'An exchange whose stream is cut');
      checkCode(rejection, 'ERR_CONNECTION_CLOSED', 'What an exchange whose stream is cut rejects with');
    },
  },
  {
    id: 'X5.1',
    title: 'keeps a hundred concurrent exchanges apart: responses in reverse order, half of the ids equal',
    async run({ open }) {
      const count = 100;
      const [all, waiting] = [gate(), [] as (() => void)[]];
      const client = await open(async (request, exchange) => {
        const turn = gate();
        waiting.push(turn.open);
        if (waiting.length === count) all.open();
        await turn.opened;
        await exchange.notify(say(Number(request.params?.['n'])));
        return echo(request);
      });
      const exchanges = Array.from({ length: count }, async (_, n) => {
        const numbers: unknown[] = [];
        const response = await client.exchange(ask(n % 2 === 0 ? 'same' : n, { n }), { onMessage: numbersInto(numbers) });
        return { n: 'result' in response ? response.result['n'] : undefined, numbers };
      });
      await within(all.opened, `${count} exchanges should run at once`);
      for (const answer of waiting.toReversed()) answer();
      const outcomes = await within(Promise.all(exchanges), 'Every exchange should resolve');
      checkEqual(
        outcomes,
        Array.from({ length: count }, (_, n) => ({ n, numbers: [n] })),
        'The answers and notifications of each exchange',
      );
    },
  },
];
