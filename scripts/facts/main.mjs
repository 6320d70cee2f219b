/**
 * `npm run facts`: measures each library of "Why Mortise", writes docs/facts.json, and from it the table and charts of docs/why.md.
 *
 *   npm run facts -- [--rounds N] [--only served,stdioCpu,...]
 *
 * `--only` measures some rows and keeps the others. About eight minutes; close other programs before.
 */

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { installTool } from '../install-tool.mjs';
import { root } from '../run-command.mjs';
import { libraries } from './libraries.mjs';
import * as measure from './measure.mjs';
import { pagesOfFacts } from './page.mjs';

const { values: flags } = parseArgs({
  options: { rounds: { type: 'string', default: '5' }, only: { type: 'string' } },
});
const rounds = Number(flags.rounds);
const jsonFile = join(root, 'docs/facts.json');
const before = existsSync(jsonFile) ? JSON.parse(readFileSync(jsonFile, 'utf8')) : { facts: {} };

/** The rows, in the order in which they are measured: what a library serves is needed to call it. Null is "it has no such thing". */
const rows = {
  served: async (library) => ({ stdio: (await measure.servedOverStdio(library)) ?? null, http: await measure.servedOverHttp(library) }),
  stdioCpu: (library, options) => measure.stdioCpu(library, options),
  httpCpu: (library, options) => measure.httpCpu(library, options),
  coldStart: (library, options) => measure.startMs(library, options),
  bundleKib: (library) => measure.bundleKib(library),
  installed: (library) => measure.installed(library),
  tasks: (library) => measure.tasksOf(library),
  transports: (library) => measure.transportsOf(library),
  survivesKill: (library) => (library.name === 'Mortise' ? measure.survivesKill() : null),
  conformance: (library) => (library.name === 'Mortise' ? measure.conformance() : undefined),
};
const chosen = flags.only?.split(',') ?? Object.keys(rows);
const unknown = chosen.filter((id) => !(id in rows));
if (unknown.length > 0) throw new Error(`no row is called ${unknown.join(', ')}; the rows are ${Object.keys(rows).join(', ')}`);

const report = await measureAll();
writeFileSync(jsonFile, `${JSON.stringify(report, null, 2)}\n`);
for (const { file, render } of pagesOfFacts(report)) writeFileSync(join(root, file), render());

async function measureAll() {
  await installTool('other-makers');
  const facts = { ...before.facts };
  for (const id of chosen) {
    facts[id] = {};
    for (const library of libraries) {
      process.stderr.write(`${id}: ${library.name}\n`);
      try {
        const value = await rows[id](library, { rounds, served: facts.served?.[library.name] });
        if (library.name !== 'Mortise' && id === 'conformance') continue;
        facts[id][library.name] = typeof value === 'number' ? Number(value.toPrecision(4)) : (value ?? null);
      } catch (error) {
        // The page says "not measured".
        process.stderr.write(`  not measured: ${String(error.message).slice(0, 500)}\n`);
      }
    }
  }
  return {
    measured: {
      date: new Date().toISOString().slice(0, 10),
      machine: `${cpus().length} x ${cpus()[0]?.model.trim()}`,
      node: process.versions.node,
      rounds,
    },
    libraries: libraries.map((library) => ({ name: library.name, package: library.packages[0], version: measure.versionOf(library) })),
    facts,
  };
}
