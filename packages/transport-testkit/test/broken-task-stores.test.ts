/** Each way to break a promise of a task store, a queue, a state store, a replay store or a verifier must fail a case of that promise. */

import { AuthChallengeError } from '@mortise/protocol';
import type {
  AuthInfo,
  ReplayStore,
  StateStore,
  TaskQueue,
  TaskRecord,
  TaskStore,
  TokenRequest,
  TokenVerifier,
} from '@mortise/protocol/contracts';
import { type KitCase, type KitSubject, runCases, setPatience } from '@mortise/transport-testkit';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import { replayStoreCases } from '@mortise/transport-testkit/replay-store';
import { stateStoreCases } from '@mortise/transport-testkit/state-store';
import { type TaskQueueSubject, taskQueueCases } from '@mortise/transport-testkit/task-queue';
import { taskStoreCases } from '@mortise/transport-testkit/task-store';
import { type TokenVerifierSubject, tokenVerifierCases } from '@mortise/transport-testkit/token-verifier';
import { describeKit } from '@mortise/transport-testkit/vitest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SmallQueue, SmallReplayStore, SmallStateStore, SmallTaskStore } from './fixtures/small-stores.ts';

type Breaker<T, Real = T> = (real: Real) => Partial<T>;

/** A real part with some of its members replaced. */
function breakIt<T extends object>(real: T, broken: Partial<T>): T {
  return new Proxy(real, {
    get(target, key) {
      const owner = Object.hasOwn(broken, key) ? broken : target;
      const value: unknown = Reflect.get(owner, key);
      return typeof value === 'function' ? value.bind(owner) : value;
    },
  });
}

async function failingIds<S extends KitSubject>(cases: readonly KitCase<S>[], id: string, create: () => S): Promise<readonly string[]> {
  const traits = { shared: true, durable: true, reopens: true, faults: true, waits: true, bounded: true, onOneMachine: true };
  const results = await runCases(
    cases.filter((kitCase) => kitCase.id === id),
    { create: async () => create(), traits },
  );
  return results.filter((result) => result.outcome === 'failed').map((result) => result.id);
}

const close = async (): Promise<void> => undefined;

beforeAll(() => setPatience(1000));
afterAll(() => setPatience(5000));

const turn = (): Promise<void> => new Promise((resolve) => void setTimeout(resolve, 0));
const eternal = (record: Omit<TaskRecord, 'version'>): Omit<TaskRecord, 'version'> => ({ ...record, ttlMs: null });

const taskStores: readonly (readonly [string, string, Breaker<TaskStore, SmallTaskStore>])[] = [
  ['loses members', 'K1.1', (store) => ({ create: ({ data: _lost, ...record }, terms) => store.create(record, terms) })],
  ['overwrites', 'K1.2', (store) => ({ create: (record, terms) => (store.records.delete(record.id), store.create(record, terms)) })],
  [
    'looks before it creates',
    'K1.3',
    (store) => ({
      async create(record, terms) {
        if (await store.get(record.id)) throw new Error('it exists');
        await turn();
        store.records.delete(record.id);
        return store.create(record, terms);
      },
    }),
  ],
  ['keeps to its own machine', 'K1.4', () => ({})],
  ['has no limit', 'K1.5', (store) => ({ create: (record, { leaseMs }) => store.create(record, { leaseMs }) })],
  [
    'counts one more than it may',
    'K1.5',
    (store) => ({ create: (record, terms) => store.create(record, { ...terms, maxOpen: (terms.maxOpen ?? Infinity) + 1 }) }),
  ],
  ['keeps the steps of a deleted task', 'K1.6', (store) => ({ delete: async (id) => void store.records.delete(id) })],
  [
    'forgets what it does not change',
    'K2.1',
    (store) => ({ update: (id, version, changes) => store.update(id, version, { data: {}, ...changes }) }),
  ],
  ['ignores versions', 'K2.2', (store) => ({ update: async (id, _, changes) => store.update(id, store.find(id)?.version ?? 0, changes) })],
  [
    'writes half of a late update',
    'K2.2',
    (store) => ({
      async update(id, version, changes) {
        const record = store.find(id);
        if (record && record.version !== version) store.records.set(id, { ...record, data: changes.data ?? {} });
        return store.update(id, version, changes);
      },
    }),
  ],
  [
    'compares and sets in two steps',
    'K2.3',
    (store) => ({
      async update(id, version, changes) {
        if (store.find(id)?.version !== version) return undefined;
        await turn();
        return store.update(id, store.find(id)?.version ?? 0, changes);
      },
    }),
  ],
  [
    'removes nothing',
    'K2.4',
    (store) => ({ update: (id, version, { remove: _remove, ...changes }) => store.update(id, version, changes) }),
  ],
  ['gives tasks to all', 'K3.1', (store) => ({ claim: (...args) => (store.alive.clear(), store.claim(...args)) })],
  ['does not renew', 'K3.1', (store) => ({ renew: async (owner) => [...store.records.values()].filter((one) => one.owner === owner) })],
  ['lets owners live for ever', 'K3.2', (store) => ({ claim: (id, owner) => store.claim(id, owner, Infinity) })],
  ['gives nothing back', 'K3.2', (store) => ({ renew: async (owner, leaseMs) => (leaseMs === 0 ? [] : store.renew(owner, leaseMs)) })],
  [
    'looks before it gives a task',
    'K3.3',
    (store) => ({
      async claim(...args) {
        if (store.find(args[0])?.owner !== undefined) return undefined;
        await turn();
        store.alive.clear();
        return store.claim(...args);
      },
    }),
  ],
  [
    'does not count claims',
    'K3.4',
    (store) => ({
      async claim(...args) {
        const claim = await store.claim(...args);
        if (claim) store.records.set(args[0], { ...claim.record, version: claim.record.version - 1 });
        return claim && { ...claim, record: { ...claim.record, version: claim.record.version - 1 } };
      },
    }),
  ],
  [
    'gives out what is driven by hand',
    'K3.5',
    (store) => ({ create: (record, terms) => store.create({ ...record, driver: 'engine' }, terms) }),
  ],
  ['gives out what is held', 'K8.1', (store) => ({ claimOrphans: (...args) => (store.alive.clear(), store.claimOrphans(...args)) })],
  [
    'takes what is driven by hand',
    'K8.1',
    (store) => ({ create: (record, terms) => store.create({ ...record, driver: 'engine' }, terms) }),
  ],
  ['knows no limit', 'K8.2', (store) => ({ claimOrphans: (leaseMs) => store.claimOrphans(leaseMs, 100) })],
  ['gives each orphan to all', 'K8.3', (store) => ({ claimOrphans: (_, limit) => store.claimOrphans(0, limit) })],
  [
    'lists the newest first',
    'K4.1',
    (store) => ({ list: async (who, options) => ({ tasks: (await store.list(who, { ...options, limit: 100 })).tasks.toReversed() }) }),
  ],
  ['lists for everybody', 'K4.2', (store) => ({ list: async () => ({ tasks: structuredClone([...store.records.values()]) }) })],
  [
    'counts from the start',
    'K4.3',
    (store) => ({
      async list(principal, { cursor = '0', limit }) {
        const { tasks } = await store.list(principal, { limit: 100 });
        const end = Number(cursor) + limit;
        return { tasks: tasks.slice(Number(cursor), end), ...(tasks.length > end && { nextCursor: String(end) }) };
      },
    }),
  ],
  ['takes any cursor', 'K4.4', (store) => ({ list: (who, { cursor: _cursor, ...options }) => store.list(who, options) })],
  ['gives back what it is given', 'K5.1', (store) => ({ putStep: async (id, key, value) => (await store.putStep(id, key, value), value) })],
  [
    'takes null for nothing',
    'K5.2',
    (store) => ({
      async putStep(id, key, value) {
        if (!(await store.getStep(id, key))?.value) store.steps.get(id)?.delete(key);
        return store.putStep(id, key, value);
      },
    }),
  ],
  [
    'looks before it puts',
    'K5.3',
    (store) => ({
      async putStep(id, key, value) {
        if (await store.getStep(id, key)) return (await store.getStep(id, key))?.value ?? null;
        await turn();
        store.steps.get(id)?.delete(key);
        return store.putStep(id, key, value);
      },
    }),
  ],
  [
    'takes steps of what it does not have',
    'K5.4',
    (store) => ({ putStep: async (id, key, value) => (store.records.has(id) ? store.putStep(id, key, value) : value) }),
  ],
  ['finds what has expired', 'K6.1', (store) => ({ create: (record, terms) => store.create(eternal(record), terms) })],
  [
    'deletes too much as it writes',
    'K6.2',
    (store) => ({
      create(record, terms) {
        if (record.id === 'e0') store.records.delete('d');
        return store.create(record, terms);
      },
    }),
  ],
  [
    'finds the steps of what has expired',
    'K6.2',
    (store) => ({ getStep: async (id, key) => (store.steps.has(id) ? { value: store.steps.get(id)?.get(key) ?? null } : undefined) }),
  ],
  ['hands out what it holds', 'K7.1', (store) => ({ get: async (id) => store.find(id) })],
  ['keeps nothing for the next process', 'K1.7', () => ({})],
  ...['K9.1', 'K9.2', 'K9.3', 'K9.4'].map((id) => ['stores everything', id, () => ({})] as const),
];

function createTimed() {
  const clock = new FakeClock();
  return { real: new SmallTaskStore(() => clock.now()), pass: (ms: number) => clock.advance(ms), close };
}

describeKit('the small task store', taskStoreCases, {
  traits: { reopens: true },
  async create() {
    const { real, ...rest } = createTimed();
    return { store: real, reopen: async () => real, ...rest };
  },
});

describe('a broken task store', () => {
  it.for(taskStores)('that %s fails %s', async ([, id, breaker]) => {
    const create = () => {
      const { real, ...rest } = createTimed();
      return {
        store: breakIt<TaskStore>(real, breaker(real)),
        ...(id === 'K1.4' && { other: new SmallTaskStore() }),
        ...(id === 'K1.7' && { reopen: async () => new SmallTaskStore() }),
        ...rest,
      };
    };
    expect(await failingIds(taskStoreCases, id, create)).toEqual([id]);
  });
});

const queues: readonly (readonly [string, string, Breaker<TaskQueue, SmallQueue>])[] = [
  ['forgets what came before its worker', 'Q1.1', (queue) => ({ work: (handler) => (queue.jobs.clear(), queue.work(handler)) })],
  ['loses some', 'Q1.2', (queue) => ({ enqueue: async (id) => (id.endsWith('7') ? undefined : queue.enqueue(id)) })],
  ['keeps nothing', 'Q1.3', () => ({})],
  [
    'gives up on what was rejected',
    'Q2.1',
    (queue) => ({ work: (handler) => queue.work((id, signal) => handler(id, signal).catch(() => undefined)) }),
  ],
  [
    'stops at what was rejected',
    'Q2.1',
    (queue) => ({
      work(handler) {
        const stop = queue.work((id, signal) =>
          handler(id, signal).catch((error: unknown) => (void stop(), Promise.reject(error as Error))),
        );
        return stop;
      },
    }),
  ],
  ['does not wait for those in hand', 'Q2.2', (queue) => ({ work: (handler) => (queue.work(handler), async () => queue.close()) })],
  ['goes on when it was stopped', 'Q2.2', (queue) => ({ work: (handler) => (queue.work(handler), close) })],
  [
    'gives what it was given twice',
    'Q3.1',
    (queue) => {
      let count = 0;
      const work: TaskQueue['work'] = (handler) => queue.work((id, signal) => handler(id.replace(/ #\d+$/, ''), signal));
      return { enqueue: (id) => queue.enqueue(`${id} #${count++}`), work };
    },
  ],
  [
    'does not take again what is in hand',
    'Q3.2',
    (queue) => {
      const known = new Set<string>();
      return { enqueue: async (id) => (known.has(id) ? undefined : (known.add(id), queue.enqueue(id))) };
    },
  ],
];

function queueSubject(real: SmallQueue, queue: TaskQueue, keeps: boolean): TaskQueueSubject {
  const crash = async (): Promise<TaskQueue> => (await real.close(), new SmallQueue(keeps ? real.jobs : new Set()));
  return { queue, crash, close: () => real.close() };
}

describeKit('the small queue', taskQueueCases, {
  traits: { durable: true },
  async create() {
    const queue = new SmallQueue();
    return queueSubject(queue, queue, true);
  },
});

describe('a broken queue', () => {
  it.for(queues)('that %s fails %s', async ([, id, breaker]) => {
    const create = () => {
      const real = new SmallQueue();
      return queueSubject(real, breakIt<TaskQueue>(real, breaker(real)), id !== 'Q1.3');
    };
    expect(await failingIds(taskQueueCases, id, create)).toEqual([id]);
  });
});

const stateStores: readonly (readonly [string, string, Breaker<StateStore>])[] = [
  ['finds what has expired', 'Q1.1', (store) => ({ put: (id, value) => store.put(id, value, Infinity) })],
  ['cuts long values', 'Q2.1', (store) => ({ put: (id, value, until) => store.put(id, value.slice(0, 65_536), until) })],
  [
    'keeps the first',
    'Q2.2',
    (store) => ({ put: async (id, value, until) => ((await store.get(id)) === undefined ? store.put(id, value, until) : undefined) }),
  ],
  ['never deletes', 'Q2.3', () => ({ delete: close })],
];

describeKit('the small state store', stateStoreCases, { create: async () => ({ store: new SmallStateStore(), close }) });

describe('a broken state store', () => {
  it.for(stateStores)('that %s fails %s', async ([, id, breaker]) => {
    const real = new SmallStateStore();
    expect(await failingIds(stateStoreCases, id, () => ({ store: breakIt<StateStore>(real, breaker(real)), close }))).toEqual([id]);
  });
});

const replayStores: readonly (readonly [string, string, Breaker<ReplayStore, SmallReplayStore>])[] = [
  ['lets everything be claimed', 'P1.1', () => ({ claim: async () => true })],
  [
    'looks before it claims',
    'P1.2',
    (store) => ({
      async claim(id, until) {
        if (store.claims.has(id)) return false;
        await turn();
        return (store.claims.delete(id), store.claim(id, until));
      },
    }),
  ],
  ['keeps to its own machine', 'P1.3', () => ({})],
  ['never forgets', 'P2.1', (store) => ({ claim: (id) => store.claim(id, Infinity) })],
];

describeKit('the small replay store', replayStoreCases, { create: async () => ({ store: new SmallReplayStore(), close }) });

describe('a broken replay store', () => {
  it.for(replayStores)('that %s fails %s', async ([, id, breaker]) => {
    const create = () => {
      const real = new SmallReplayStore();
      return { store: breakIt<ReplayStore>(real, breaker(real)), ...(id === 'P1.3' && { other: new SmallReplayStore() }), close };
    };
    expect(await failingIds(replayStoreCases, id, create)).toEqual([id]);
  });
});

const tokens = new Map<string, AuthInfo>([
  ['token-of-ada', { principal: 'issuer|ada', scopes: ['read'], expiresAtMs: Date.now() + 3_600_000 }],
  ['token-of-eve', { principal: 'issuer|eve', scopes: [] }],
]);

const challenge = (): AuthChallengeError =>
  new AuthChallengeError('the token is not valid', { status: 401, challenge: 'Bearer error="invalid_token"' });

const goodVerifier: TokenVerifier = {
  async verify({ token, url }, { signal }) {
    if (token === 'slow') await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
    if (token === 'fault') throw new Error('the keys cannot be fetched');
    const info = url === 'https://here/mcp' ? tokens.get(token ?? '') : undefined;
    if (!info) throw challenge();
    return info;
  },
};

function withToken(token: string, url = 'https://here/mcp'): TokenRequest {
  return { scheme: 'Bearer', token, method: 'POST', url, header: () => undefined };
}

function verifierSubject(verifier: TokenVerifier): TokenVerifierSubject {
  const refused = { expired: withToken('token-that-is-old'), elsewhere: withToken('token-of-ada', 'https://there/mcp') };
  const [valid, another, faulty, slow] = ['token-of-ada', 'token-of-eve', 'fault', 'slow'].map((token) => withToken(token));
  if (!valid || !another || !faulty || !slow) throw new Error('four requests are made');
  return { verifier, valid, another, refused, faulty, slow, close };
}

const verifiers: readonly (readonly [string, string, TokenVerifier['verify']])[] = [
  ['names nobody', 'N1.1', async (request, options) => ({ ...(await goodVerifier.verify(request, options)), principal: 'anonymous' })],
  [
    'counts in seconds',
    'N1.1',
    async (request, options) => ({ ...(await goodVerifier.verify(request, options)), expiresAtMs: 1_800_000_000 }),
  ],
  ['takes all for one', 'N1.2', async (request, options) => ({ ...(await goodVerifier.verify(request, options)), principal: 'x' })],
  ['does not look where it is', 'N1.3', (request, options) => goodVerifier.verify({ ...request, url: 'https://here/mcp' }, options)],
  [
    'lets in who has no token',
    'N1.4',
    async (request, options) => (request.token ? goodVerifier.verify(request, options) : { principal: 'x', scopes: [] }),
  ],
  ['throws anything', 'N2.1', (request, options) => goodVerifier.verify(request, options).catch(() => Promise.reject(new Error('no')))],
  [
    'repeats the token',
    'N2.1',
    (request, options) =>
      goodVerifier.verify(request, options).catch(() => {
        throw new AuthChallengeError(`${request.token} is not valid`, { status: 401, challenge: 'Bearer' });
      }),
  ],
  [
    'takes its own fault for the caller\u2019s',
    'N2.2',
    (request, options) => goodVerifier.verify(request, options).catch(() => Promise.reject(challenge())),
  ],
  ['never gives up', 'N2.3', (request) => goodVerifier.verify(request, { signal: new AbortController().signal })],
];

describeKit('the good verifier', tokenVerifierCases, {
  traits: { faults: true, waits: true },
  create: async () => verifierSubject(goodVerifier),
});

describe('a broken verifier', () => {
  it.for(verifiers)('that %s fails %s', async ([, id, verify]) => {
    expect(await failingIds(tokenVerifierCases, id, () => verifierSubject({ verify }))).toEqual([id]);
  });
});
