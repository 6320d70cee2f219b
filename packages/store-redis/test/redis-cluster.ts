/** Three `redis-server` processes that are a cluster. */

import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { promisify } from 'node:util';
import { expect, vi } from 'vitest';
import { RedisServer } from './redis-server.ts';

/** Finds ports that are free now, in the range in which a cluster's second port, 10,000 above, exists. */
async function freePorts(wanted: number): Promise<readonly number[]> {
  const servers = Array.from({ length: wanted }, () => createServer());
  for (const server of servers) {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  }
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  for (const server of servers) {
    server.close();
    await once(server, 'close');
  }
  return ports;
}

export interface RedisCluster {
  readonly urls: readonly string[];
  close(): Promise<void>;
}

export async function startCluster(): Promise<RedisCluster> {
  const ports = await freePorts(6);
  const nodes = ports.slice(0, 3).map((port, n) => {
    const bus = String(ports[n + 3]);
    return new RedisServer(['--port', String(port), '--bind', '127.0.0.1', '--cluster-enabled', 'yes', '--cluster-port', bus]);
  });
  const close = async (): Promise<void> => {
    for (const node of nodes) await node.close();
  };
  const addresses = ports.slice(0, 3).map((port) => `127.0.0.1:${port}`);
  try {
    await Promise.all(nodes.map((node) => node.start()));
    await join(addresses);
  } catch (error) {
    await close();
    throw error;
  }
  return { urls: addresses.map((address) => `redis://${address}`), close };
}

async function join(addresses: readonly string[]): Promise<void> {
  const cli = (args: readonly string[]): Promise<{ readonly stdout: string }> => promisify(execFile)('redis-cli', args);
  await cli(['--cluster', 'create', ...addresses, '--cluster-yes']);
  // Each node hears from the others when all slots are taken, and refuses every command until then.
  for (const address of addresses) {
    const info = ['-p', address.slice(address.indexOf(':') + 1), 'cluster', 'info'];
    await vi.waitFor(async () => expect((await cli(info)).stdout).toContain('cluster_state:ok'), 30_000);
  }
}
