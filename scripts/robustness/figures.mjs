/** The figures that stdio can show: each a rule, a goal, and a measurement that says what it found and whether that is good enough. */

import { readdirSync, readFileSync } from 'node:fs';
import { connectInMemory } from '@mortise/client/in-memory';
import { McpClient } from '@mortise/client';
import { createInMemoryPair } from '@mortise/jsonrpc-core';
import { McpServer } from '@mortise/server';
import { stdioTransport } from '@mortise/transport-stdio/client';
import { fileURLToPath } from 'node:url';
import { inFlight } from './in-flight.mjs';
import { LineClient } from './line-client.mjs';
import { withinMs } from './within-ms.mjs';

const mebibyte = 1024 * 1024;
const eras = ['legacy', 'modern'];
const serverFile = fileURLToPath(new URL('server.mjs', import.meta.url));

/**
 * @typedef {{ figure: string, ok: boolean }} Found
 * @type {readonly { rule: string, what: string, goal: string, measure: () => Promise<Found> }[]}
 */
export const figures = [
  ...eras.map((era) => ({
    rule: '3',
    what: `10,000 calls, 500 in flight, ${era}`,
    goal: 'no wrong answer',
    measure: () => countWrongAnswers(era),
  })),
  ...eras.map((era) => ({
    rule: '7',
    what: `heap slope over 100,000 calls, ${era}`,
    goal: 'under 1 MiB',
    measure: () => measureHeapSlope(era),
  })),
  {
    rule: '7',
    what: 'a line of 17 MiB: growth of the server, and the next call',
    goal: 'refused, at most 48 MiB, served',
    measure: sendOversizedLine,
  },
  {
    rule: '7',
    what: 'a reader that stops, 8,000 answers of 64 KiB (500 MiB): growth of the server',
    goal: 'at most 96 MiB',
    measure: stopReading,
  },
  {
    rule: '7',
    what: '500 calls of 1 MiB, no answer is read: growth of the server over stdio',
    goal: 'at most 96 MiB',
    measure: () => askOnAndOn('echo', 96),
  },
  {
    // 64 MiB of requests may be in flight, and the rest is read to be refused.
    rule: '7',
    what: '500 calls of 1 MiB, none is answered: growth of the server over stdio',
    goal: 'at most 192 MiB',
    measure: () => askOnAndOn('wait', 192),
  },
  {
    rule: '9',
    what: '300 connections cut in mid-call, in memory: what is left',
    goal: '0 timers, 0 handles, all signals aborted',
    measure: cutConnections,
  },
  { rule: '13', what: '30 servers killed in mid-call: descriptors left in the client', goal: '0', measure: killServers },
  {
    rule: '13',
    what: 'end of input in mid-call: until the server is gone',
    goal: 'under 1 s, code 0',
    measure: () => timeExit((client) => client.stdin.end()),
  },
  {
    rule: '13',
    what: 'SIGTERM in mid-call: until the server is gone',
    goal: 'under 1 s, code 0',
    measure: () => timeExit((client) => client.kill('SIGTERM')),
  },
  { rule: '13', what: 'a broken pipe in mid-call: until the server is gone', goal: 'under 1 s', measure: breakPipe },
  {
    rule: '5',
    what: 'the n-th send fails, for every n of a session: calls that hang',
    goal: '0, and the server serves on',
    measure: failEverySend,
  },
];

async function countWrongAnswers(era) {
  const client = new LineClient(era);
  await client.open();
  let wrong = 0;
  await inFlight(10_000, 500, async (index) => {
    if ((await client.callTool('echo', { text: `call ${index}` })) !== `call ${index}`) wrong += 1;
  });
  await client.end();
  return { figure: `${wrong} wrong`, ok: wrong === 0 };
}

async function measureHeapSlope(era) {
  const client = new LineClient(era, ['--expose-gc']);
  await client.open();
  const call = (index) => client.callTool('echo', { text: `call ${index}` });
  await inFlight(20_000, 100, call);
  const before = JSON.parse(await client.callTool('heap')).heapUsed;
  await inFlight(100_000, 100, call);
  const after = JSON.parse(await client.callTool('heap')).heapUsed;
  await client.end();
  return { figure: inMebibytes(after - before), ok: after - before < mebibyte };
}

async function sendOversizedLine() {
  const client = new LineClient('modern', ['--expose-gc']);
  await client.open();
  const before = residentBytes(client.pid);
  const chunk = 'x'.repeat(mebibyte);
  client.stdin.write('{"jsonrpc":"2.0","id":"large","method":"tools/call","params":{"name":"echo","arguments":{"text":"');
  let peak = before;
  for (let written = 0; written < 17; written += 1) {
    await new Promise((resolve) => client.stdin.write(chunk, resolve));
    peak = Math.max(peak, residentBytes(client.pid));
  }
  client.stdin.write('"}}}\n');
  const served = await Promise.race([client.callTool('echo', { text: 'next' }), client.exited.then(() => 'nothing: it ended')]);
  await client.end();
  const growth = peak - before;
  return { figure: `${inMebibytes(growth)}, then ${served}`, ok: served === 'next' && growth <= 48 * mebibyte };
}

async function stopReading() {
  const client = new LineClient('modern');
  await client.open();
  const before = residentBytes(client.pid);
  client.stdout.pause();
  const calls = Array.from({ length: 8_000 }, () => client.callTool('large'));
  let peak = before;
  // The figure is the most that the server ever held while nobody read.
  for (let look = 0; look < 20; look += 1) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    peak = Math.max(peak, residentBytes(client.pid));
  }
  client.stdout.resume();
  const answers = await Promise.all(calls);
  await client.end();
  const growth = peak - before;
  return { figure: `${inMebibytes(growth)}, then ${answers.length} answers`, ok: growth <= 96 * mebibyte && answers.length === 8_000 };
}

async function askOnAndOn(tool, mostMebibytes) {
  const client = new LineClient('modern');
  await client.open();
  const before = residentBytes(client.pid);
  client.stdout.pause();
  const text = 'x'.repeat(mebibyte);
  for (let call = 0; call < 500; call += 1) client.callTool(tool, { text }).catch(() => undefined);
  let peak = before;
  for (let look = 0; look < 40; look += 1) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    peak = Math.max(peak, residentBytes(client.pid));
  }
  client.kill('SIGKILL');
  await client.exited;
  const growth = peak - before;
  return { figure: inMebibytes(growth), ok: growth <= mostMebibytes * mebibyte };
}

async function cutConnections() {
  const server = new McpServer({ name: 'measured', version: '1.0.0' });
  let aborted = 0;
  server.registerTool(
    'wait',
    {},
    (ctx) =>
      new Promise((resolve) => {
        ctx.signal.addEventListener('abort', () => {
          aborted += 1;
          resolve('aborted');
        });
      }),
  );
  await settle();
  const before = process.getActiveResourcesInfo();
  for (let round = 0; round < 300; round += 1) {
    const client = await connectInMemory(server, { era: eras[round % 2] });
    const call = client.callTool('wait').catch(() => undefined);
    await settle();
    await client.close();
    await call;
  }
  await settle();
  const left = difference(process.getActiveResourcesInfo(), before);
  return { figure: `${left.length === 0 ? 'nothing' : left.join(', ')}; ${aborted} aborted`, ok: left.length === 0 && aborted === 300 };
}

async function killServers() {
  const transport = () => stdioTransport({ command: process.execPath, args: [serverFile], stderr: 'ignore' });
  const countDescriptors = () =>
    process.platform === 'linux' ? readdirSync('/proc/self/fd').length : process.getActiveResourcesInfo().length;
  await cutOne(transport());
  await settle();
  const before = countDescriptors();
  for (let round = 0; round < 30; round += 1) await cutOne(transport());
  await settle();
  const left = countDescriptors() - before;
  return { figure: `${left}`, ok: left <= 0 };
}

async function cutOne(transport) {
  const client = await McpClient.connect(transport, { name: 'measure', version: '1.0.0' });
  const call = client.callTool('wait').catch(() => undefined);
  await client.close();
  await call;
}

async function timeExit(end) {
  const client = new LineClient('modern');
  await client.open();
  void client.callTool('wait').catch(() => undefined);
  await client.callTool('echo', { text: 'started' });
  const started = performance.now();
  end(client);
  const { code, signal, at } = await client.exited;
  return { figure: `${(at - started).toFixed(0)} ms, ${signal ?? `code ${code}`}`, ok: at - started < 1_000 && code === 0 };
}

async function breakPipe() {
  const client = new LineClient('modern');
  await client.open();
  void client.callTool('wait').catch(() => undefined);
  await client.callTool('echo', { text: 'started' });
  const started = performance.now();
  client.stdout.destroy();
  void client.callTool('large').catch(() => undefined);
  const { code, signal, at } = await client.exited;
  return { figure: `${(at - started).toFixed(0)} ms, ${signal ?? `code ${code}`}`, ok: at - started < 1_000 && signal === null };
}

async function failEverySend() {
  const server = new McpServer({ name: 'measured', version: '1.0.0' });
  server.registerTool('echo', { inputSchema: { type: 'object' } }, () => 'here');
  let hung = 0;
  let sessions = 0;
  for (const era of eras) {
    for (const side of [0, 1]) {
      for (let failing = 1; failing <= 8; failing += 1) {
        sessions += 1;
        const pair = createInMemoryPair();
        failNthSend(pair[side], failing);
        const connection = await server.connect(pair[1]);
        const ended = await withinMs(5_000, runSession(pair[0], era));
        if (!ended) hung += 1;
        await connection.close();
      }
    }
  }
  const client = await connectInMemory(server);
  const answer = await client.callTool('echo');
  await client.close();
  return { figure: `${hung} of ${sessions} sessions hang`, ok: hung === 0 && answer.content[0].text === 'here' };
}

function failNthSend(transport, failing) {
  const send = transport.send.bind(transport);
  let count = 0;
  transport.send = (message, options) => {
    count += 1;
    return count === failing ? Promise.reject(new Error('the line is cut')) : send(message, options);
  };
}

async function runSession(transport, era) {
  const client = new McpClient({ name: 'measure', version: '1.0.0' }, { era, probeTimeoutMs: 200, requestTimeoutMs: 500 });
  try {
    await client.connect(transport);
    await client.callTool('echo').catch(() => undefined);
    await client.callTool('echo').catch(() => undefined);
  } catch {
    // A session that cannot open says so: that is all this figure asks.
  }
  await client.close();
}

/** Lets everything that is ready run, a few macrotasks deep. */
async function settle() {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

function residentBytes(pid) {
  const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes) * 1024;
}

/** What `after` holds more often than `before`. */
function difference(after, before) {
  const rest = [...before];
  return after.filter((name) => {
    const at = rest.indexOf(name);
    if (at !== -1) rest.splice(at, 1);
    return at === -1;
  });
}

const inMebibytes = (bytes) => `${(bytes / mebibyte).toFixed(2)} MiB`;
