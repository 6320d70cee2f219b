// A bare driver for a WebSocket server: spawns it, reads its address, matches answers by id. It costs the same for every server measured.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { WebSocket } from 'ws';

const probe = new URL('./probe.mjs', import.meta.url).href;

export async function startWebSocketPeer(file) {
  const child = spawn(process.execPath, ['--import', probe, file], { stdio: ['pipe', 'pipe', 'pipe'] });
  const [address] = await once(child.stdout, 'data');
  const ws = new WebSocket(address.toString().trim(), ['mcp'], { perMessageDeflate: false });
  await once(ws, 'open');
  const waiting = new Map();
  ws.on('message', (data) => {
    const message = JSON.parse(data.toString());
    waiting.get(message.id)?.(message);
    waiting.delete(message.id);
  });
  let nextId = 1;
  return {
    request(method, params) {
      const id = nextId++;
      ws.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
      return new Promise((resolve) => waiting.set(id, resolve));
    },
    notify(method, params) {
      ws.send(JSON.stringify({ jsonrpc: '2.0', method, params }));
    },
    async cpu() {
      child.kill('SIGUSR2');
      const [said] = await once(child.stderr, 'data');
      return { cpuUs: Number(/CPU (\d+)/.exec(said.toString())[1]) };
    },
    async stop() {
      ws.close();
      child.stdin.end();
      await once(child, 'exit');
    },
  };
}
