import { isMortiseError, type JsonObject, ProtocolError } from '@mortise/jsonrpc-core';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import { describe, expect, it } from 'vitest';
import type { Middleware, MiddlewareCall } from '../../src/middleware/middleware.ts';
import { rateLimit } from '../../src/middleware/rate-limit.ts';
import { createCall } from './call.ts';

const OK: JsonObject = { content: [] };

/** `ok`, or the error that the request is answered with. */
async function ask(limit: Middleware, changes: Partial<MiddlewareCall> = {}): Promise<'ok' | ProtocolError> {
  try {
    expect(await limit(createCall(changes), async () => OK)).toBe(OK);
    return 'ok';
  } catch (error) {
    if (isMortiseError(error) && error instanceof ProtocolError) return error;
    throw error;
  }
}

describe('rateLimit', () => {
  it('[TOOL-046] refuses tool calls beyond the burst, and says when to come back', async () => {
    const clock = new FakeClock();
    const limit = rateLimit({ burst: 2, perSecond: 4 });
    expect([await ask(limit, { clock }), await ask(limit, { clock })]).toEqual(['ok', 'ok']);
    const refused = await ask(limit, { clock });
    expect(refused).toMatchObject({
      rpcCode: 429,
      message: 'Too many tools/call requests: try again in 0.3 s',
      data: { retryAfterMs: 250 },
    });
    clock.advance(250);
    expect(await ask(limit, { clock })).toBe('ok');
    expect(await ask(limit, { clock })).toBeInstanceOf(ProtocolError);
  });

  it('[COMP-009] limits completion by itself', async () => {
    const limit = rateLimit({ burst: 1 });
    expect(await ask(limit, { method: 'completion/complete' })).toBe('ok');
    expect(await ask(limit, { method: 'completion/complete' })).toBeInstanceOf(ProtocolError);
    expect(await ask(limit, { method: 'tools/call' })).toBe('ok');
  });

  it('lets one caller not be refused for what another does', async () => {
    const limit = rateLimit({ burst: 1 });
    expect(await ask(limit, { principal: 'alice' })).toBe('ok');
    expect(await ask(limit, { principal: 'alice' })).toBeInstanceOf(ProtocolError);
    expect(await ask(limit, { principal: 'bob' })).toBe('ok');
  });

  it('tells callers whom nobody verified apart by their address', async () => {
    const limit = rateLimit({ burst: 1 });
    const from = (remoteAddress: string): Partial<MiddlewareCall> => ({
      principal: 'anonymous',
      origin: { method: 'POST', url: 'http://localhost/mcp', header: () => undefined, remoteAddress },
    });
    expect(await ask(limit, from('10.0.0.1'))).toBe('ok');
    expect(await ask(limit, from('10.0.0.1'))).toBeInstanceOf(ProtocolError);
    expect(await ask(limit, from('10.0.0.2'))).toBe('ok');
    // One customer has a whole /64 of IPv6.
    expect(await ask(limit, from('2001:db8:0:1::1'))).toBe('ok');
    expect(await ask(limit, from('2001:db8:0:1:ffff:0:0:2'))).toBeInstanceOf(ProtocolError);
    expect(await ask(limit, from('2001:db8:0:2::1'))).toBe('ok');
  });

  it('takes no rate of zero, for nobody could wait until then', () => {
    expect(() => rateLimit({ perSecond: 0 })).toThrow(/"perSecond" must be more than 0/);
  });

  it('remembers 10,000 callers, and forgets the one who was away longest', async () => {
    const limit = rateLimit({ burst: 1 });
    await ask(limit, { principal: 'alice' });
    await ask(limit, { principal: 'bob' });
    for (let i = 0; i < 9_998; i += 1) await ask(limit, { principal: `caller ${i}` });
    expect(await ask(limit, { principal: 'alice' })).toBeInstanceOf(ProtocolError);
    await ask(limit, { principal: 'carol' });
    expect(await ask(limit, { principal: 'alice' })).toBeInstanceOf(ProtocolError);
    expect(await ask(limit, { principal: 'bob' })).toBe('ok');
  });
});
