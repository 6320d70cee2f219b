import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { Deadlines } from '../src/deadlines.ts';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';

describe('a handler that waits', () => {
  it('keeps the process alive until its time is over, and nothing longer than that', () => {
    const script = `
      import { McpServer } from '@mortise/server';
      const server = new McpServer({ name: 'm', version: '1' }, { handlerTimeoutMs: 50 });
      server.registerTool('never', {}, () => new Promise(() => undefined));
      server.registerTool('soon', {}, async () => 'x');
      const params = (name) => ({ name, _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} } });
      const call = { principal: 'local', auth: undefined, signal: new AbortController().signal, isCancelled: false, send: async () => undefined };
      const { result } = await server.handle({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: params('never') }, call);
      const idle = new McpServer({ name: 'm', version: '1' }, { handlerTimeoutMs: 600_000 });
      idle.registerTool('soon', {}, async () => 'x');
      await idle.handle({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: params('soon') }, call);
      console.log(result.content[0].text);
    `;
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      ['--conditions=mortise-source', '--import', 'tsx', '--input-type=module', '-e', script],
      { cwd: fileURLToPath(new URL('..', import.meta.url)), encoding: 'utf8', timeout: 60_000 },
    );
    expect(stderr).not.toMatch(/Error/);
    expect(status).toBe(0);
    expect(stdout).toMatch(/did not finish within 50 ms/);
  });

  it('costs no timer once nothing runs', () => {
    const clock = new FakeClock();
    const deadlines = new Deadlines(1_000, clock);
    const ends = [deadlines.start(() => undefined), deadlines.start(() => undefined)];
    for (const deadline of ends) {
      expect(clock.running).toBe(1);
      deadlines.end(deadline);
    }
    expect(clock.running).toBe(0);
  });
});
