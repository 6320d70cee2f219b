/** Rule 1: one check of Host and Origin, safe by default. */

import { createHostGuard } from '@mortise/protocol/edge';
import { describe, expect, it } from 'vitest';

const local = (
  host: string | undefined,
  origin?: string,
): { host: string | undefined; origin: string | undefined; isLoopbackSocket: boolean } => ({ host, origin, isLoopbackSocket: true });
const outside = (
  host: string | undefined,
  origin?: string,
): { host: string | undefined; origin: string | undefined; isLoopbackSocket: boolean } => ({ host, origin, isLoopbackSocket: false });

describe('rule 1: a guard with defaults, on a loopback socket', () => {
  const guard = createHostGuard();

  it.each(['localhost', 'localhost:3000', 'LOCALHOST:3000', '127.0.0.1:3000', '[::1]:3000', 'app.localhost', 'localhost.', '127.5.5.5'])(
    'lets the host %s in',
    (host) => {
      expect(guard(local(host))).toBeUndefined();
    },
  );

  it.each([
    'evil.example',
    'evil.example:3000',
    '192.168.0.5',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    'user@localhost',
    'localhost:3000:1',
    'local host',
    '',
    'localhost/',
    '[::1',
    '0.0.0.0',
    undefined,
  ])('refuses the host %s', (host) => {
    expect(guard(local(host))).toMatch(/^Host /);
  });

  it.each(['http://localhost:5173', 'https://127.0.0.1', 'http://[::1]:8080'])('lets pages of this machine in: %s', (origin) => {
    expect(guard(local('localhost:3000', origin))).toBeUndefined();
  });

  it.each([
    'http://evil.example',
    'null',
    '',
    'http://localhost.evil.example',
    'http://localhost@evil.example',
    'http://localhost/../x',
    'evil',
    'file://',
    'http://localhost:3000 http://x',
    'chrome-extension://abc',
  ])('refuses pages of others: %s', (origin) => {
    expect(guard(local('localhost:3000', origin))).toMatch(/^Origin /);
  });

  it('refuses a page that reached this machine by rebinding its own name', () => {
    expect(guard(local('evil.example:3000', 'http://evil.example:3000'))).toBeDefined();
  });
});

describe('rule 1: a guard on a socket to the outside', () => {
  it('takes any host by default, and no foreign page, not even one of the same name', () => {
    const guard = createHostGuard();
    expect(guard(outside('mcp.example'))).toBeUndefined();
    for (const origin of ['https://mcp.example', 'http://localhost:3000', 'https://evil.example'])
      expect(guard(outside('mcp.example', origin))).toMatch(/^Origin /);
  });

  it('takes the hosts that are listed, with any port where none is named', () => {
    const guard = createHostGuard({ allowedHosts: ['mcp.example', 'other.example:8443', '[2001:db8::1]'] });
    for (const host of ['mcp.example', 'MCP.example:99', 'other.example:8443', '[2001:DB8::1]:5'])
      expect(guard(outside(host))).toBeUndefined();
    for (const host of ['other.example', 'other.example:1', 'evil.example', 'localhost', undefined])
      expect(guard(outside(host))).toMatch(/^Host /);
    expect(guard(local('localhost'))).toBeUndefined();
  });

  it('takes the origins that are listed, and its own pages under a listed name', () => {
    const guard = createHostGuard({ allowedHosts: ['mcp.example'], allowedOrigins: ['https://app.example', 'http://app.example:80'] });
    for (const origin of ['https://app.example', 'https://app.example:443', 'http://app.example', 'https://mcp.example'])
      expect(guard(outside('mcp.example', origin))).toBeUndefined();
    for (const origin of ['https://app.example:444', 'https://mcp.example:8443', 'https://x.app.example'])
      expect(guard(outside('mcp.example', origin))).toMatch(/^Origin /);
  });

  it.each([
    { allowedHosts: ['https://mcp.example'] },
    { allowedHosts: ['mcp.example/x'] },
    { allowedOrigins: ['mcp.example'] },
    { allowedOrigins: ['https://mcp.example/x'] },
    { allowedOrigins: ['*'] },
  ])('refuses to be made of %j', (options) => {
    expect(() => createHostGuard(options)).toThrow(TypeError);
  });
});
