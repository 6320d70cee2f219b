import { once } from 'node:events';
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { run } from './run.ts';

const fromRoot = (path: string): string => fileURLToPath(new URL(`../../../${path}`, import.meta.url));
const command = (path: string): string => `"${process.execPath}" "${fromRoot(path)}"`;

/** What `doctor` finds, each as `outcome row`. */
async function examine(server: string): Promise<{ readonly code: number; readonly found: readonly string[] }> {
  const { code, out } = await run(['doctor', server, '--call', '--fix-list']);
  const found = (JSON.parse(out) as { outcome: string; row: string }[]).map(({ outcome, row }) => `${outcome} ${row}`);
  return { code, found: [...new Set(found)].sort() };
}

describe('mortise doctor', () => {
  it('finds nothing in the server of apps/quickstart, over standard streams', async () => {
    expect(await examine(command('apps/quickstart/dist/server.js'))).toEqual({ code: 0, found: [] });
  });

  it('finds nothing in the server of apps/conformance, over HTTP', async () => {
    const child = spawn(process.execPath, [fromRoot('apps/conformance/dist/server.js'), '--port', '0'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(async () => {
      const exited = once(child, 'exit');
      child.kill();
      await exited;
    });
    const [url] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
    expect(await examine(url)).toEqual({ code: 0, found: [] });
  });

  // The table in docs/measurements.md says the same.
  it.each([
    ['v1', ['advice PAGE-008', 'advice RES-006', 'advice TOOL-044']],
    ['v2', ['advice PAGE-008', 'advice RES-006']],
  ])('names what the official SDK %s does otherwise', async (sdk, found) => {
    expect(await examine(command(`interop/fixtures/official-${sdk}-server.mjs`))).toEqual({ code: 0, found });
  });
});
