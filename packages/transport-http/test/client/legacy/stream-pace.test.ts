/** ROBUSTNESS rule 10, as numbers. */

import { afterEach, describe, expect, it, vi } from 'vitest';
import { StreamPace } from '../../../src/client/legacy/event-stream.ts';
import { seededRandom } from '../../support/cutting-proxy.ts';

function fixChance(value: number): void {
  vi.spyOn(Math, 'random').mockReturnValue(value);
}
afterEach(() => vi.restoreAllMocks());

describe('the pace of reconnection', () => {
  it('[ROBUSTNESS-10] grows exponentially from half a second to a second on, up to half a minute', () => {
    const delays = (): number[] => {
      const pace = new StreamPace();
      return Array.from({ length: 8 }, () => Math.round(pace.next()));
    };
    fixChance(0);
    expect(delays()).toEqual([500, 1000, 2000, 4000, 8000, 15_000, 15_000, 15_000]);
    fixChance(0.999999);
    expect(delays()).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000]);
  });

  it.each([0, 1, 499])('[ROBUSTNESS-10] counts a wish of %i ms as half a second', (retryMs) => {
    fixChance(0);
    const pace = new StreamPace();
    pace.onRetry(retryMs);
    expect(pace.next()).toBe(500);
  });

  it.each([500, 3_000, 60_000, 300_000])('[HTTP-033] waits the %i ms that the server wants, and at most a tenth longer', (retryMs) => {
    for (const random of [0, 0.5, 0.999]) {
      fixChance(random);
      const pace = new StreamPace();
      pace.onRetry(retryMs);
      const delayMs = pace.next();
      expect(delayMs).toBeGreaterThanOrEqual(retryMs);
      expect(delayMs).toBeLessThanOrEqual(retryMs * 1.1);
    }
  });

  it('[ROBUSTNESS-10] never goes below the wish of the server when attempts fail', () => {
    fixChance(0);
    const pace = new StreamPace();
    pace.onRetry(3_000);
    expect([pace.next(), pace.next(), pace.next(), pace.next(), pace.next()]).toEqual([3_000, 3_000, 3_000, 4_000, 8_000]);
  });

  it('[ROBUSTNESS-10] gives up on a server that wants to wait longer than five minutes', () => {
    const pace = new StreamPace();
    pace.onRetry(300_001);
    expect(() => pace.next()).toThrow(
      expect.objectContaining({ code: 'ERR_STREAM_GIVEN_UP', message: expect.stringContaining('5 minutes') }),
    );
  });

  it('gives up after so many failures in a row', () => {
    const pace = new StreamPace(2);
    pace.next();
    pace.next();
    expect(() => pace.next()).toThrow(expect.objectContaining({ code: 'ERR_STREAM_GIVEN_UP' }));
  });

  it('begins anew once the stream lives', () => {
    fixChance(0);
    const pace = new StreamPace(2);
    pace.next();
    pace.next();
    pace.onAlive();
    expect(pace.next()).toBe(500);
  });

  it('[ROBUSTNESS-10] makes at most 10 attempts in 4 s, whatever the server wants and the chance gives', () => {
    for (const random of [() => 0, seededRandom(1)]) {
      vi.spyOn(Math, 'random').mockImplementation(random);
      const pace = new StreamPace(Infinity);
      let nowMs = 0;
      let attempts = 0;
      for (;;) {
        pace.onRetry(0);
        pace.onAlive();
        nowMs += pace.next();
        if (nowMs > 4_000) break;
        attempts++;
      }
      expect(attempts).toBeLessThanOrEqual(10);
    }
  });
});
