/** Lines as MCP has them. `node:readline` will not do: from Node 24 on it also ends lines at U+2028, which JSON may hold. */

/** Calls `onLine` for what stands before each line feed, and `onEnd` once when the stream has ended. */
export function eachLine(stream: NodeJS.ReadableStream, onLine: (line: string) => void, onEnd: () => void = () => undefined): void {
  let parts: string[] = [];
  const finish = (next?: string): void => {
    const line = parts.join('');
    parts = next === undefined ? [] : [next];
    if (next !== undefined || line !== '') onLine(line.endsWith('\r') ? line.slice(0, -1) : line);
  };
  stream.setEncoding('utf8');
  stream.on('data', (chunk: string) => {
    const [first = '', ...others] = chunk.split('\n');
    parts.push(first);
    for (const next of others) finish(next);
  });
  let hasEnded = false;
  const end = (): void => {
    if (hasEnded) return;
    hasEnded = true;
    finish();
    onEnd();
  };
  stream.on('end', end).on('close', end);
}
