/** The figures that WebSocket can show: what idle connections cost, and what slow readers do to everybody else. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { WebSocket } from 'ws';

const kibibyte = 1024;
const mebibyte = 1024 * kibibyte;
const serverFile = fileURLToPath(new URL('web-socket-server.mjs', import.meta.url));
const initialize = request(0, 'initialize', {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'measured', version: '1.0.0' },
});

/** @type {readonly { rule: string, what: string, goal: string, measure: () => Promise<{ figure: string, ok: boolean }> }[]} */
export const webSocketFigures = [
  { rule: '8', what: '5,000 idle WebSockets: memory of the server for each', goal: 'at most 60 KiB', measure: holdIdle },
  {
    rule: '7',
    what: '100,000 answers over 50 WebSockets, 10 of which do not read: growth of the server, wrong answers',
    goal: 'at most 64 MiB, 0',
    measure: meetSlowReaders,
  },
];

async function holdIdle() {
  const server = await start();
  await openMany(server.url, 100);
  const before = await server.look();
  const sockets = await openMany(server.url, 5000);
  const after = await server.look();
  const each = (after.rss - before.rss) / sockets.length;
  await server.stop();
  const isWhole = after.connections - before.connections === sockets.length;
  return { figure: `${Math.round(each / kibibyte)} KiB`, ok: isWhole && each <= 60 * kibibyte };
}

async function meetSlowReaders() {
  const server = await start();
  const sockets = await openMany(server.url, 50);
  const [slow, quick] = [sockets.slice(0, 10), sockets.slice(10)];
  // What the calls themselves need is there before anyone is slow.
  await callAll(quick, 5);
  const before = await server.look();
  for (const ws of slow) {
    ws.pause();
    // Answers of 64 KiB, far more than the server may keep for one that does not read.
    for (let id = 1; id <= 500; id += 1) ws.send(request(id, 'tools/call', { name: 'large' }));
  }
  let peak = before.rss;
  const watch = setInterval(async () => (peak = Math.max(peak, (await server.look()).rss)), 200);
  const answers = await callAll(quick, 25);
  clearInterval(watch);
  await server.stop();
  const growth = peak - before.rss;
  const wrong = answers.filter((isRight) => !isRight).length;
  return {
    figure: `${(growth / mebibyte).toFixed(1)} MiB, ${wrong} wrong of ${answers.length}`,
    ok: growth <= 64 * mebibyte && wrong === 0 && answers.length === 100_000,
  };
}

/** Makes a hundred calls at once on each, so many times. */
async function callAll(sockets, rounds) {
  const told = [];
  await Promise.all(
    sockets.map(async (ws) => {
      for (let round = 0; round < rounds; round += 1) told.push(...(await callMany(ws, 100)));
    }),
  );
  return told;
}

/** Sends some calls at once, and tells of each whether its answer was its own. */
function callMany(ws, count) {
  return new Promise((resolve) => {
    const answers = [];
    ws.on('message', function onMessage(data) {
      const { id, result } = JSON.parse(data.toString());
      answers.push(result?.content?.[0]?.text === `call ${id}`);
      if (answers.length < count) return;
      ws.off('message', onMessage);
      resolve(answers);
    });
    for (let id = 1; id <= count; id += 1) ws.send(request(id, 'tools/call', { name: 'echo', arguments: { text: `call ${id}` } }));
  });
}

function request(id, method, params) {
  return JSON.stringify({ jsonrpc: '2.0', id, method, params });
}

async function openMany(url, count) {
  const sockets = [];
  while (sockets.length < count) {
    const some = Array.from({ length: Math.min(100, count - sockets.length) }, () => open(url));
    sockets.push(...(await Promise.all(some)));
  }
  return sockets;
}

async function open(url) {
  const ws = new WebSocket(url, ['mcp'], { perMessageDeflate: false });
  await once(ws, 'open');
  ws.send(initialize);
  await once(ws, 'message');
  ws.send('{"jsonrpc":"2.0","method":"notifications/initialized"}');
  return ws;
}

async function start() {
  const child = spawn(process.execPath, ['--expose-gc', serverFile], { stdio: ['pipe', 'pipe', 'pipe'] });
  const [url] = await once(child.stdout, 'data');
  return {
    url: url.toString().trim(),
    async look() {
      child.kill('SIGUSR2');
      const [said] = await once(child.stderr, 'data');
      return JSON.parse(said.toString());
    },
    async stop() {
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}
