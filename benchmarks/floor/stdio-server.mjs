// The floor for servers: what the bytes alone cost. A line loop, JSON.parse, JSON.stringify, one write an answer.
const toolCount = Number(process.argv[2] ?? 1);
const modern = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' };
const tools = Array.from({ length: toolCount }, (_, index) => ({
  name: index === 0 ? 'add' : `add_${index}`,
  description: 'Adds two numbers',
  inputSchema: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] },
  outputSchema: { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] },
}));

function answer({ method, params }) {
  if (method === 'tools/call') {
    const { a, b, text } = params.arguments;
    if (text !== undefined) return { content: [{ type: 'text', text: String(text.length) }], resultType: 'complete' };
    const sum = a + b;
    return { content: [{ type: 'text', text: JSON.stringify({ sum }) }], structuredContent: { sum }, resultType: 'complete' };
  }
  if (method === 'tools/list') return { tools, ...modern };
  const capabilities = { tools: {} };
  if (method === 'initialize') {
    return { protocolVersion: params.protocolVersion, capabilities, serverInfo: { name: 'floor', version: '1.0.0' } };
  }
  return { supportedVersions: ['2026-07-28'], capabilities, ...modern };
}

let chunks = [];
process.stdin.on('data', (chunk) => {
  let from = 0;
  for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
    chunks.push(chunk.subarray(from, end));
    const line = chunks.length === 1 ? chunks[0] : Buffer.concat(chunks);
    chunks = [];
    from = end + 1;
    const message = JSON.parse(line.toString());
    if (message.id !== undefined) process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id: message.id, result: answer(message) }) + '\n');
  }
  if (from < chunk.length) chunks.push(chunk.subarray(from));
});
process.stdin.on('end', () => process.exit(0));
