import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { guardStdout } from '../src/stdout-guard.ts';

function read(stream: PassThrough): string {
  return String(stream.read() ?? '');
}

it('moves stray writes with their callbacks, and lets the protocol through', async () => {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const guard = guardStdout(stdout, stderr);
  await new Promise<void>((resolve) => stdout.write('stray\n', () => resolve()));
  await new Promise<void>((resolve) => stdout.write('stray 2\n', 'latin1', () => resolve()));
  await new Promise<void>((resolve) => void guard.write('{}\n', () => resolve()));
  expect(read(stdout)).toBe('{}\n');
  expect(read(stderr).replace(/^\[mortise\].*\n/, '')).toBe('stray\nstray 2\n');
});

it('shortens what it quotes, and quotes one line of it', () => {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  guardStdout(stdout, stderr);
  stdout.write(`${'x'.repeat(200)}\nsecond line\n`);
  const [warning = ''] = read(stderr).split('\n');
  expect(warning).toContain(`"${'x'.repeat(80)}..."`);
  expect(warning).toMatch(/written by process\.stdout\.write at .*stdout-guard\.test\.ts/);
  expect(warning).not.toContain('second line');
});

it('leaves a wrapper that was put around it in place, which then writes to the real standard output', () => {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const guard = guardStdout(stdout, stderr);
  const guarded = stdout.write.bind(stdout);
  const wrapper = ((text: string) => guarded(`wrapped ${text}`)) as typeof stdout.write;
  stdout.write = wrapper;
  guard.restore();
  expect(stdout.write).toBe(wrapper);
  stdout.write('text');
  expect(read(stdout)).toBe('wrapped text');
  expect(read(stderr)).toBe('');
});

it('gives back a write that was already wrapped', () => {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const earlier = stdout.write.bind(stdout);
  stdout.write = earlier;
  guardStdout(stdout, stderr).restore();
  expect(stdout.write).toBe(earlier);
  const fresh = new PassThrough();
  guardStdout(fresh, stderr).restore();
  expect(Object.hasOwn(fresh, 'write')).toBe(false);
});
