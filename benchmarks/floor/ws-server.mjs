// The floor over WebSocket: the package `ws`, JSON.parse, JSON.stringify, one frame an answer.
import { WebSocketServer } from 'ws';

const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false, handleProtocols: () => 'mcp' });
server.on('listening', () => process.stdout.write(`ws://127.0.0.1:${server.address().port}/mcp\n`));
server.on('connection', (ws) => {
  ws.on('message', (data) => {
    const { id, method, params } = JSON.parse(data.toString());
    if (id !== undefined) ws.send(JSON.stringify({ jsonrpc: '2.0', id, result: answer(method, params) }));
  });
});
process.stdin.on('end', () => process.exit(0)).resume();

function answer(method, params) {
  if (method === 'initialize') {
    return { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'floor', version: '1.0.0' } };
  }
  const sum = params.arguments.a + params.arguments.b;
  return { content: [{ type: 'text', text: JSON.stringify({ sum }) }], structuredContent: { sum }, resultType: 'complete' };
}
