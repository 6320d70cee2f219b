import { MemoryMessageBus } from '@mortise/protocol';
import { MemoryEventStore, MemorySessionStore } from '@mortise/protocol/edge';
import { eventStoreCases } from '@mortise/transport-testkit/event-store';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import { messageBusCases } from '@mortise/transport-testkit/message-bus';
import { sessionStoreCases } from '@mortise/transport-testkit/session-store';
import { LossyBus, withDelay } from '@mortise/transport-testkit/wrap';
import { describeKit } from '@mortise/transport-testkit/vitest';

describeKit('the memory message bus', messageBusCases, {
  traits: { shared: true },
  async create() {
    const bus = new MemoryMessageBus();
    // The machines of a memory bus are servers in one process, which hold the same object.
    return { bus, other: bus, close: () => bus.close() };
  },
});

const DELAY_MS = 50;

describeKit('a message bus that is 50 ms away and loses messages', messageBusCases, {
  traits: { shared: true, gaps: true },
  async create() {
    const backend = new MemoryMessageBus();
    const [bus, other] = [new LossyBus(backend, { delayMs: DELAY_MS }), new LossyBus(backend, { delayMs: DELAY_MS })];
    return { bus, other, cut: async () => bus.cut(), mend: async () => bus.mend(), close: () => backend.close() };
  },
});

async function createSessions(delayMs: number) {
  const clock = new FakeClock();
  const store = withDelay(new MemorySessionStore({ clock }), delayMs);
  return { store, pass: (ms: number) => clock.advance(ms), close: async () => undefined };
}

describeKit('the memory session store', sessionStoreCases, { create: () => createSessions(0) });
describeKit('a session store that is 50 ms away', sessionStoreCases, { create: () => createSessions(DELAY_MS) });

describeKit('the memory event store', eventStoreCases, {
  traits: { claims: true, maxEvents: true, maxAge: true },
  async create() {
    const clock = new FakeClock();
    const store = new MemoryEventStore({ maxEventsPerStream: 100, maxAgeMs: 60_000, clock });
    const age = (): void => clock.advance(60_001);
    return { store, maxEvents: 100, age, close: async () => undefined };
  },
});

describeKit('an event store that is 50 ms away', eventStoreCases, {
  traits: { claims: true, maxEvents: true, maxAge: true },
  async create() {
    const clock = new FakeClock();
    const store = withDelay(new MemoryEventStore({ maxEventsPerStream: 100, maxAgeMs: 60_000, clock }), DELAY_MS);
    const age = (): void => clock.advance(60_001);
    return { store, maxEvents: 100, age, close: async () => undefined };
  },
});
