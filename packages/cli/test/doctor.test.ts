import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it, onTestFinished } from 'vitest';
import { run } from './run.ts';

const { createPlainHttp } = (await import(new URL('servers/plain-http.mjs', import.meta.url).href)) as {
  createPlainHttp(fault: string): Server & { readonly sessions: ReadonlySet<string> };
};
const program = fileURLToPath(new URL('servers/plain-stdio.mjs', import.meta.url));

interface Found {
  readonly row: string;
  readonly outcome: string;
  readonly fault: string;
  readonly remedy: string;
}

async function examine(
  server: string,
  ...more: readonly string[]
): Promise<{ readonly rows: readonly string[]; readonly code: number; readonly found: readonly Found[] }> {
  const { code, out } = await run(['doctor', server, '--fix-list', ...more]);
  const found = JSON.parse(out) as Found[];
  return { rows: [...new Set(found.map(({ row }) => row))].sort(), code, found };
}

const examineProgram = (fault: string, ...more: readonly string[]) => examine(`"${process.execPath}" "${program}" "${fault}"`, ...more);

async function examineHttp(fault: string): Promise<Awaited<ReturnType<typeof examine>> & { readonly sessions: ReadonlySet<string> }> {
  const server = createPlainHttp(fault).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close().closeAllConnections());
  const examined = await examine(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`);
  return { ...examined, sessions: server.sessions };
}

describe('mortise doctor', () => {
  it('finds nothing in a server without a fault, over standard streams and over HTTP', async () => {
    expect(await examineProgram('none', '--call')).toEqual({ rows: [], code: 0, found: [] });
    expect(await examineHttp('none')).toEqual({ rows: [], code: 0, found: [], sessions: new Set() });
  });

  it('goes on when a server cuts the connection, and when it answers a notification', async () => {
    expect((await examineHttp('cuts the connection')).rows).toEqual(['HTTP-002']);
    expect((await examineHttp('answered notification')).rows).toEqual(['BASE-019', 'HTTP-009']);
  });

  it.each([
    ['tool without schema', ['TOOL-006']],
    ['tool name with spaces', ['TOOL-011']],
    ['two tools of one name', ['TOOL-012']],
    ['schema that is no schema', ['JSCH-003']],
    ['output of another type', ['TOOL-035']],
    ['tools in any order', ['TOOL-003']],
    ['resource without a URI', ['RES-003']],
    ['prompt without a name', ['PROMPT-004']],
    ['pages without end', ['PAGE-001', 'PAGE-008']],
    ['new pages without end', ['PAGE-001', 'PAGE-008', 'PROMPT-004', 'RES-003', 'TOOL-012']],
    ['any cursor', ['PAGE-008']],
    ['unknown tool called', ['TOOL-044']],
    ['wrong code for a resource', ['RES-006', 'RES-007']],
    ['wrong code for a method', ['ERR-001']],
    ['undeclared capability', ['CAP-006']],
    ['discovery without lifetime', ['VERS-008']],
    ['no counter-offer', ['LIFE-008']],
    ['server without a version', ['LIFE-002']],
    ['any version', ['VERS-003']],
    ['no list of versions', ['VERS-003']],
    ['no resultType', ['BASE-014']],
    ['answered notification', ['BASE-019']],
    ['both result and error', ['BASE-010']],
    ['opening without jsonrpc', ['BASE-010']],
    ['banner on standard output', ['STDIO-002']],
    ['dies of a bad line', ['ROBUSTNESS-2']],
    ['stays when its input ends', ['STDIO-013']],
  ])('names the fault of a program with: %s', async (fault, rows) => {
    const { rows: named, found } = await examineProgram(fault);
    expect(named).toEqual(rows);
    for (const { fault: what, remedy } of found) expect(what.length > 0 && remedy.length > 0).toBe(true);
  });

  it.each([
    ['any origin', 'HTTP-002'],
    ['broken body is 500', 'HTTP-010'],
    ['notification is 200', 'HTTP-009'],
    ['GET not refused', 'HTTP-021'],
    ['any version header', 'HTTP-027'],
    ['any session', 'HTTP-044'],
    ['short session ids', 'HTTP-039'],
    ['header not compared', 'HDR-008'],
    ['header not needed', 'HDR-009'],
    ['errors are 200', 'HTTPM-006'],
    ['sign-in without metadata', 'AUTH-012'],
  ])('names the fault of an HTTP server with: %s', async (fault, row) => {
    expect((await examineHttp(fault)).rows).toEqual([row]);
  });

  it('calls no tool without --call, and with it finds results without content', async () => {
    expect((await examineProgram('result without content')).rows).toEqual([]);
    expect((await examineProgram('result without content', '--call')).rows).toEqual(['TOOL-027']);
    expect((await examineProgram('empty result of a tool with empty schemas', '--call')).rows).toEqual(['TOOL-027']);
  });

  it('says that a server speaks one era only', async () => {
    const { out } = await run(['doctor', `"${process.execPath}" "${program}" "one era only"`]);
    expect(out).toMatch(
      /^The legacy era\n[^]*\nThe server does not speak the modern era: nothing of it was tried\.\n\n(\d+) of \1 checks passed/,
    );
  });

  it('ends another program than that whose tools it called', async () => {
    expect((await examineProgram('tool that starts a timer', '--call')).rows).toEqual([]);
    expect((await examineProgram('stays when its input ends', '--call')).rows).toEqual(['STDIO-013']);
  });

  it('never calls a tool that takes an argument, or that says that it destroys something', async () => {
    expect((await examineProgram('tools that must not be called', '--call')).rows).toEqual([]);
  });

  it('says that a program which is no MCP server answers in no era, and fails', async () => {
    const { rows, code } = await examine(`"${process.execPath}" -e "setTimeout(() => {}, 60000)"`, '--timeout', '0.3');
    expect({ rows, code }).toEqual({ rows: ['LIFE-002'], code: 1 });
  });

  it('takes no header to another origin', async () => {
    const seen: string[] = [];
    const other = createServer((request, response) => {
      seen.push(request.url ?? '');
      response.end();
    }).listen(0, '127.0.0.1');
    await once(other, 'listening');
    onTestFinished(() => void other.close());
    const { rows } = await examineHttp(`http://127.0.0.1:${(other.address() as AddressInfo).port}/`);
    expect({ rows, seen }).toEqual({ rows: ['HTTP-021'], seen: [] });
  });

  it.skipIf(process.platform === 'win32')('ends what a program has started, which outlives the end of its input', async () => {
    const command = `"${process.execPath}" "${program}" "stays when its input ends"`;
    const { rows } = await examine(`sh -c '${command}; true'`);
    expect(rows).toEqual(['STDIO-013']);
  });

  it('[ROBUSTNESS-7] reads no line without an end to its end', async () => {
    const { rows, found } = await examineProgram('line without an end');
    expect(rows).toEqual(['LIFE-002']);
    expect(found[0]?.fault).toContain('it wrote xxxx');
  });

  it('names a server that is not there, with exit code 3', async () => {
    expect((await run(['doctor', 'http://127.0.0.1:1/mcp'])).code).toBe(3);
    const { code, err, out } = await run(['doctor', '/no/such/program']);
    expect({ code, out }).toEqual({ code: 3, out: '' });
    expect(err).toMatch(/"\/no\/such\/program" could not be started/);
  });

  it('ends though the server takes requests and answers none, also when garbage is collected meanwhile', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const server = createServer(() => collect()).listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close().closeAllConnections());
    const { code } = await run(['doctor', `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, '--timeout', '0.2']);
    expect(code).not.toBe(0);
  });
});
