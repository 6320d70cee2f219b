import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, vi } from 'vitest';
import { silentLogger, systemClock } from '../src/transport.ts';

describe('systemClock', () => {
  it('tells the time and fires once', async () => {
    expect(Math.abs(systemClock.now() - Date.now())).toBeLessThan(1_000);
    const beforeMs = systemClock.monotonicMs();
    await new Promise<void>((resolve) => systemClock.schedule(resolve, 1, { keepAlive: true }));
    expect(systemClock.monotonicMs()).toBeGreaterThan(beforeMs);
  });

  it('fires after delays longer than a platform takes, and not once cancelled', () => {
    vi.useFakeTimers();
    try {
      const fired: string[] = [];
      const monthMs = 30 * 24 * 3_600_000;
      systemClock.schedule(() => fired.push('kept'), monthMs);
      systemClock.schedule(() => fired.push('cancelled'), monthMs).cancel();
      vi.advanceTimersByTime(monthMs - 1);
      expect(fired).toEqual([]);
      vi.advanceTimersByTime(1);
      expect(fired).toEqual(['kept']);
    } finally {
      vi.useRealTimers();
    }
  });

  it('keeps no process alive unless asked to', () => {
    const clock = fileURLToPath(new URL('../src/clock.ts', import.meta.url));
    const script = `import { systemClock } from ${JSON.stringify(clock)};
      systemClock.schedule(() => console.log('never'), 600_000);
      systemClock.schedule(() => console.log('kept'), 20, { keepAlive: true });`;
    const output = execFileSync(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], {
      encoding: 'utf8',
      timeout: 60_000,
    });
    expect(output.trim()).toBe('kept');
  });
});

describe('silentLogger', () => {
  it('takes every line and says nothing', () => {
    expect(silentLogger.log('emergency', 'x')).toBeUndefined();
  });
});
