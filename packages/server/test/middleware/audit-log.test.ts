import { ProtocolError } from '@mortise/jsonrpc-core';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import { describe, expect, it } from 'vitest';
import { auditLog, type AuditRecord } from '../../src/middleware/audit-log.ts';
import { createRedactor } from '../../src/middleware/redact.ts';
import { createCall } from './call.ts';

describe('auditLog', () => {
  it('writes who did what, how it ended and how long it took, without arguments', async () => {
    const records: AuditRecord[] = [];
    const clock = new FakeClock(1_000);
    const audit = auditLog((record) => void records.push(record));
    await audit(
      createCall({ clock, requestId: 7, sessionId: 's1', auth: { principal: 'alice', clientId: 'app', scopes: [] } }),
      async () => {
        clock.advance(40);
        return { content: [] };
      },
    );
    expect(records).toEqual([
      {
        atMs: 1_000,
        durationMs: 40,
        method: 'tools/call',
        target: 'add',
        principal: 'alice',
        clientId: 'app',
        requestId: 7,
        sessionId: 's1',
        revision: createCall().revision.version,
        outcome: 'ok',
        errorCode: undefined,
      },
    ]);
  });

  it('tells a failed tool, a refused request and a cancelled one apart, and passes each on', async () => {
    const records: AuditRecord[] = [];
    const audit = auditLog((record) => void records.push(record));
    const failed = { content: [], isError: true };
    expect(await audit(createCall(), async () => failed)).toBe(failed);
    const refusal = new ProtocolError(-32602, 'no');
    await expect(audit(createCall(), async () => Promise.reject(refusal))).rejects.toBe(refusal);
    await expect(audit(createCall({ signal: AbortSignal.abort() }), async () => Promise.reject(new Error('stop')))).rejects.toThrow('stop');
    expect(records.map(({ outcome, errorCode }) => [outcome, errorCode])).toEqual([
      ['failed', undefined],
      ['refused', -32602],
      ['cancelled', undefined],
    ]);
  });

  it('[LOG-013] adds arguments only where they are asked for, and as they are asked for', async () => {
    const records: AuditRecord[] = [];
    const call = createCall({ params: { name: 'login', arguments: { user: 'ann', password: 'hunter2' } } });
    await auditLog((record) => void records.push(record), { arguments: true })(call, async () => ({}));
    await auditLog((record) => void records.push(record), { arguments: createRedactor() })(call, async () => ({}));
    expect(records.map((record) => record.arguments)).toEqual([
      { user: 'ann', password: 'hunter2' },
      { user: 'ann', password: '[redacted]' },
    ]);
  });

  it('needs a function that writes', () => {
    expect(() => auditLog(undefined as never)).toThrow(/^auditLog\(write\) needs a function/);
    expect(() => auditLog({ arguments: true } as never)).toThrow(expect.objectContaining({ code: 'ERR_REGISTRATION' }));
  });

  it('lets a request be answered though writing fails, at once or later', async () => {
    const fail = (): never => {
      throw new Error('disk full');
    };
    for (const write of [fail, async () => fail()])
      expect(await auditLog(write)(createCall(), async () => ({ ok: true }))).toEqual({ ok: true });
    // An unhandled rejection would fail the run.
    await new Promise((resolve) => setImmediate(resolve));
  });
});
