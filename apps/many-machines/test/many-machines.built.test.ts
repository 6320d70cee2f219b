/** The app as a person starts it, for a short time and with few clients, and its Compose file. */

import { execFile, execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

const hasRedis = ((): boolean => {
  try {
    execFileSync('redis-server', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    console.warn('not run: the test of apps/many-machines that needs redis-server (apt-get install redis-server)');
    return false;
  }
})();

const here = (name: string): string => fileURLToPath(new URL(`../${name}`, import.meta.url));

describe('machines over one engine', () => {
  it.skipIf(!hasRedis)('keep every promise while machines are killed', async () => {
    // The limits of time stop only what hangs: this machine does other work too.
    const flags = [
      '--seconds',
      '12',
      '--legacy',
      '3',
      '--modern',
      '3',
      '--pause',
      '500',
      '--kill-every',
      '4',
      '--cut',
      '0',
      '--patience',
      '20',
    ];
    // Rejects, with all that it printed, where the program ends with another code than 0.
    const { stdout } = await promisify(execFile)(process.execPath, [here('dist/client.js'), ...flags]);
    expect(stdout).toContain('Every promise was kept.');
  });

  it('have a Compose file whose machines wait for their engine, are asked for their health, and get time to leave', () => {
    const { services } = parse(readFileSync(here('compose.yaml'), 'utf8')) as {
      readonly services: Record<string, Record<string, unknown>>;
    };
    expect(Object.keys(services)).toEqual(['balancer', 'machine', 'engine']);
    expect(services['machine']).toMatchObject({
      stop_signal: 'SIGTERM',
      stop_grace_period: '30s',
      depends_on: { engine: { condition: 'service_healthy' } },
    });
    expect(JSON.stringify(services['machine']?.['healthcheck'])).toContain('/health');
    expect(JSON.stringify(services['engine'])).toContain('noeviction');
  });
});
