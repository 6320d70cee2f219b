/** The bus within one process. The kit of `MessageBus` runs on it in transport-testkit. */

import { MemoryMessageBus } from '@mortise/protocol';
import { describe, expect, it } from 'vitest';

describe('MemoryMessageBus', () => {
  it('B1 reaches every subscriber of a topic once, and no other', async () => {
    const bus = new MemoryMessageBus();
    const seen: string[] = [];
    await bus.subscribe('a', ({ payload }) => seen.push(`1:${String(payload)}`));
    await bus.subscribe('a', ({ payload }) => seen.push(`2:${String(payload)}`));
    await bus.subscribe('b', () => seen.push('b'));
    await bus.publish({ topic: 'a', payload: 'x' });
    expect(seen).toEqual(['1:x', '2:x']);
  });

  it('B1 leaves out who subscribes while a message is delivered', async () => {
    const bus = new MemoryMessageBus();
    const seen: string[] = [];
    await bus.subscribe('a', () => void bus.subscribe('a', () => seen.push('late')));
    await bus.publish({ topic: 'a' });
    expect(seen).toEqual([]);
  });

  it('B2 keeps the order, also of what is published while a message is delivered', async () => {
    const bus = new MemoryMessageBus();
    const seen: unknown[] = [];
    await bus.subscribe('a', ({ payload }) => {
      if (payload === 1) void bus.publish({ topic: 'a', payload: 2 });
    });
    await bus.subscribe('a', ({ payload }) => seen.push(payload));
    await bus.publish({ topic: 'a', payload: 1 });
    await bus.publish({ topic: 'a', payload: 3 });
    expect(seen).toEqual([1, 2, 3]);
  });

  it('B4 goes on past a subscriber that throws, and tells of it', async () => {
    const errors: unknown[] = [];
    const bus = new MemoryMessageBus({ onError: (error) => errors.push(error) });
    const seen: string[] = [];
    await bus.subscribe('a', () => {
      throw new Error('broken');
    });
    await bus.subscribe('a', () => seen.push('ok'));
    await bus.publish({ topic: 'a' });
    expect([seen, errors]).toEqual([['ok'], [new Error('broken')]]);
  });

  it('B5 is silent after unsubscribe, also within a delivery, and lets it be called twice', async () => {
    const bus = new MemoryMessageBus();
    const seen: string[] = [];
    const ends: (() => void)[] = [];
    await bus.subscribe('a', () => ends.forEach((end) => end()));
    ends.push(await bus.subscribe('a', () => seen.push('a')));
    await bus.publish({ topic: 'a' });
    ends.forEach((end) => end());
    expect(seen).toEqual([]);
  });

  it('is silent after close, and takes topics of any name', async () => {
    const bus = new MemoryMessageBus();
    const seen: string[] = [];
    for (const topic of ['__proto__', 'constructor', '']) await bus.subscribe(topic, () => seen.push(topic));
    for (const topic of ['__proto__', 'constructor', '', 'toString']) await bus.publish({ topic });
    await bus.close();
    await bus.publish({ topic: '' });
    expect(seen).toEqual(['__proto__', 'constructor', '']);
  });
});
