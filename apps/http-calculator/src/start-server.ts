/** Starts `server.js` as a process of its own and waits until it listens. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** A server that runs. */
export interface ServerProcess {
  readonly url: string;
  stop(): Promise<void>;
}

const serverFile = fileURLToPath(new URL('./server.js', import.meta.url));

/** @throws The server ended before it listened. */
export async function startServer(flags: readonly string[]): Promise<ServerProcess> {
  const child = spawn(process.execPath, [serverFile, '--port', '0', ...flags], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const lines = createInterface({ input: child.stdout });
  const line = await Promise.race([once(lines, 'line'), exited.then(() => undefined)]);
  if (line === undefined) throw new Error('the server ended before it listened');
  const stop = async (): Promise<void> => {
    child.kill();
    await exited;
  };
  return { url: String(line[0]), stop };
}
