import { Console } from 'node:console';
import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { hasOwnConsole, routeConsole } from '../src/stdout-guard.ts';

it('lets every method that writes to standard output write through the stream', () => {
  const [own, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const target = new Console({ stdout: own, stderr: own });
  routeConsole(target, stdout, stderr);
  target.time('t');
  for (const name of ['log', 'info', 'debug', 'dir', 'dirxml', 'count', 'group', 'groupCollapsed'] as const) target[name](`by ${name}`);
  target.table([{ text: 'by table' }]);
  const text = String(stdout.read());
  for (const name of ['log', 'info', 'debug', 'dir', 'dirxml', 'count', 'group', 'groupCollapsed', 'table'])
    expect(text).toContain(`by ${name}`);
  expect(own.read()).toBeNull();
});

it('gives the methods back, but not those that somebody has set since', () => {
  const stream = new PassThrough();
  const target = new Console({ stdout: stream, stderr: stream });
  const before = { log: target.log, info: target.info };
  const restore = routeConsole(target, stream, stream);
  expect(target.log).not.toBe(before.log);
  const other = (): void => undefined;
  target.info = other;
  restore();
  expect(target.log).toBe(before.log);
  expect(target.info).toBe(other);
});

it('is not needed on Node, whose console writes through the stream', () => {
  expect(hasOwnConsole()).toBe(process.versions['bun'] !== undefined);
});
