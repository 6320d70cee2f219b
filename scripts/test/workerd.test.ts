/**
 * Every edge-safe entry loads in workerd, the runtime of an edge platform, without its Node compatibility and without `eval`,
 * and a server and a client talk to each other there in both eras.
 */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundleEdge } from '../edge/bundle-edge.mjs';
import { expected } from '../edge/round-trip.mjs';
import { root, runCommand } from '../run-command.mjs';
import { edgeSafeEntries } from '../workspace-packages.mjs';

const marker = 'EDGE REPORT ';

// workerd runs a worker's `test` handler and prints what it logs; a report is read from there.
const program = `
  export default {
    async test() {
      const report = { entries, legacy: undefined, modern: undefined };
      for (const era of ['legacy', 'modern']) report[era] = await roundTrip(era).catch((error) => String(error?.stack ?? error));
      console.log('${marker}' + JSON.stringify(report));
    },
  };
`;

const config = `
  using Workerd = import "/workerd/workerd.capnp";
  const config :Workerd.Config = (
    services = [(name = "edge", worker = (modules = [(name = "edge.mjs", esModule = embed "edge.mjs")], compatibilityDate = "2025-09-01"))],
  );
`;

let folder: string;
let report: Readonly<Record<'entries' | 'legacy' | 'modern', unknown>>;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'mortise-workerd-'));
  writeFileSync(join(folder, 'edge.mjs'), await bundleEdge(program));
  writeFileSync(join(folder, 'config.capnp'), config);
  const { output } = await runCommand(join(root, 'node_modules/.bin/workerd'), ['test', '--verbose', join(folder, 'config.capnp')]);
  const line = output.split('\n').find((each) => each.includes(marker));
  if (line === undefined) throw new Error(`workerd gave no report:\n${output}`);
  report = JSON.parse(line.slice(line.indexOf(marker) + marker.length)) as typeof report;
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('in workerd', () => {
  it.each(edgeSafeEntries())('%s loads', (entry) => {
    expect(report.entries).toHaveProperty([entry]);
  });

  it.each(['legacy', 'modern'] as const)('a server and a client talk in the %s era', (era) => {
    expect(report[era]).toEqual(expected);
  });
});
