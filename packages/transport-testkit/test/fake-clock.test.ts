import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import { expect, it } from 'vitest';

it('fires what is due, in order, timers that timers set included', () => {
  const clock = new FakeClock(100);
  const fired: string[] = [];
  const tell = (name: string) => (): void => void fired.push(`${name} at ${clock.now()}`);
  clock.schedule(tell('late'), 50);
  clock.schedule(() => clock.schedule(tell('nested'), 10), 20);
  clock.schedule(tell('cancelled'), 5).cancel();
  expect(clock.delaysMs).toEqual([20, 50]);
  clock.advance(49);
  expect(fired).toEqual(['nested at 130']);
  expect(clock.running).toBe(1);
  clock.advance(1);
  expect(fired).toEqual(['nested at 130', 'late at 150']);
  expect(clock.monotonicMs()).toBe(150);
});

it('wakes who waits for a timer', async () => {
  const clock = new FakeClock();
  const waiting = clock.untilScheduled();
  clock.schedule(() => undefined, 1);
  await waiting;
  expect(clock.running).toBe(1);
});
