/**
 * What a bundle is made of. The source map tells each character of the minified text its source file, files are put into groups, and the groups
 * are compressed one after the other: each one's figure is what it adds to those above it, so the figures add up to the bundle in one file.
 */

import { gzipSync } from 'node:zlib';
import { bundleInOneFile } from './measure-bundles.mjs';

/**
 * @typedef {'start' | 'first call' | 'when used'} Need When a program needs a group: before it can answer its first message, whatever that is; with the
 *   first list or call of nearly every peer; or only once a program or a peer uses what it is for.
 * @typedef {{ name: string, need: Need, demandedBy: string, paths: RegExp }} Group `demandedBy`: rows of the ledgers, sections of DESIGN.
 */

/** @type {readonly Group[]} A file belongs to the first group that its path below packages/ fits. */
const groups = [
  {
    name: 'Connection: ids, cancellation, time limits, garbage, batches',
    need: 'start',
    demandedBy: 'BATCH, CANCEL, TIME, STATE; ROBUSTNESS 3, 4, 5',
    paths: /^jsonrpc-core\/src\/(?:connection\/|transport\/|signal|copy-object|resolved-promise|instruments|system-clock)/,
  },
  {
    name: 'JSON-RPC: read within bounds, guard, write, errors',
    need: 'start',
    demandedBy: 'BASE, ERR; DESIGN 5; ROBUSTNESS 2, 7',
    paths: /^jsonrpc-core\//,
  },
  {
    name: 'cross-spawn and what it needs',
    need: 'start',
    demandedBy: 'STDIO; DESIGN D6',
    paths: /^\.\.\/node_modules\//,
  },
  {
    name: 'good process: stdout, console, parent, stderr',
    need: 'start',
    demandedBy: 'DESIGN D9; STDIO-005; ROBUSTNESS 13',
    paths: /^transport-stdio\/src\/(?:stdout-guard|console-guard|parent-watch|stderr-l)/,
  },
  {
    name: 'stdio: lines, backpressure, bounds, start and end',
    need: 'start',
    demandedBy: 'TRAN, STDIO; ROBUSTNESS 7, 13',
    paths: /^transport-stdio\//,
  },
  {
    name: 'HTTP: what a call mirrors into headers',
    need: 'first call',
    demandedBy: 'HDR, HTTPM',
    paths: /^transport-http\/src\/(?:client\/(?:param-headers|tool-headers|mirror)|headers)/,
  },
  {
    name: 'HTTP: event streams',
    need: 'first call',
    demandedBy: 'HTTP, SSE; ROBUSTNESS 7',
    paths: /^transport-http\/src\/sse\//,
  },
  {
    name: 'HTTP: requests, answers, bounds, redirects, authorizers',
    need: 'start',
    demandedBy: 'HTTP, HTTPM, AUTH, ERA; ROBUSTNESS 7, 11',
    paths: /^transport-http\//,
  },
  {
    name: 'conversions from and to all revisions but the newest',
    need: 'first call',
    demandedBy: 'DESIGN D2; ERA, CAP (a peer speaks one revision of five)',
    paths: /^protocol\/src\/revisions\/(?:.*\/convert|reshape|mirror-|foreign-)/,
  },
  {
    name: 'the five revisions: methods, fields, codes, rules',
    need: 'start',
    demandedBy: 'VERS, ERA, CAP; DESIGN D2',
    paths: /^protocol\/src\/revisions\//,
  },
  {
    name: 'checks of what a peer sends',
    need: 'start',
    demandedBy: 'BASE, ERR, TOOL, RES, PROMPT; DESIGN D6',
    paths: /^protocol\/src\/checks\//,
  },
  {
    name: 'bus and topics of changes',
    need: 'when used',
    demandedBy: 'SUB; DESIGN D1',
    paths: /^(?:protocol\/src\/memory-message-bus|server\/src\/(?:topics|list-changed|token-bucket|add-listen))/,
  },
  {
    name: '_meta keys, codes, names, capabilities',
    need: 'start',
    demandedBy: 'META, ERR, CAP, TOOL',
    paths: /^protocol\//,
  },
  {
    name: 'schemas: shapes, Standard and JSON Schema',
    need: 'start',
    demandedBy: 'SCHEMA, JSCH, TOOL; DESIGN 4 (registration throws)',
    paths: /^server\/src\/schema\/(?!param-headers|prompt-arguments)/,
  },
  {
    name: '`x-mcp-header` of tools',
    need: 'when used',
    demandedBy: 'HDR (registration throws)',
    paths: /^server\/src\/schema\/param-headers/,
  },
  {
    name: 'resources and prompts: registration, lists',
    need: 'when used',
    demandedBy: 'RES, PROMPT, COMP; DESIGN 4 (methods of `McpServer`)',
    paths: /^server\/src\/(?:registry\/(?:resource|prompt)|resource-template|completable|subscribed-uri|schema\/prompt-arguments)/,
  },
  {
    name: 'tools and the catalog',
    need: 'start',
    demandedBy: 'TOOL, PAGE, ICON; DESIGN 4, D8',
    paths: /^server\/src\/registry\//,
  },
  {
    name: 'asking: what steps and rounds look at',
    need: 'when used',
    demandedBy: 'MRTR, ELICIT, SAMP, ROOT; DESIGN D3',
    paths: /^server\/src\/asks\//,
  },
  {
    name: 'log messages, redaction',
    need: 'when used',
    demandedBy: 'LOG; ROBUSTNESS 14',
    paths: /^server\/src\/(?:create-redactor|logging|outbox)/,
  },
  {
    name: 'progress',
    need: 'when used',
    demandedBy: 'PROG',
    paths: /^server\/src\/progress/,
  },
  {
    name: "extensions' hosts",
    need: 'when used',
    demandedBy: 'CAP; DESIGN 2 (`install` may throw)',
    paths: /^(?:server|client)\/src\/(?:extension-host|known-methods|serve-raw)/,
  },
  {
    name: 'legacy era: handshake, sessions, notifications',
    need: 'first call',
    demandedBy: 'LIFE, ERA, PING, STATE; DESIGN D1',
    paths: /^server\/src\/(?:era\/(?!stateless|index)|session-state|open-session|notifications|subscribed)/,
  },
  {
    name: '`ctx`, results of tools, cache hints',
    need: 'first call',
    demandedBy: 'TOOL, CACHE; DESIGN 2 (`HandlerRun`), 4 (short forms)',
    paths: /^server\/src\/(?:call-context|normalize-result|finish-result|cache-hints)/,
  },
  {
    name: 'server: dispatch in both eras, deadlines, capabilities, errors',
    need: 'start',
    demandedBy: 'ERA, ERR, CAP, META, CANCEL; DESIGN D1, D8, 5',
    paths: /^server\//,
  },
  {
    name: 'finding the era: probe, verdicts, restart',
    need: 'start',
    demandedBy: 'ERA, VERS; DESIGN 3 (era detection)',
    paths: /^client\/src\/(?:era\/(?!stateless)|transport-source|connector)/,
  },
  {
    name: 'modern calls',
    need: 'first call',
    demandedBy: 'ERA, META, MRTR',
    paths: /^client\/src\/era\/stateless/,
  },
  {
    name: 'answers to the server: `ping`, questions, notifications',
    need: 'start',
    demandedBy: 'PING, BASE, ERR, CAP, ELICIT, SAMP, ROOT',
    paths: /^client\/src\/(?:answers|channel-link|link)/,
  },
  {
    name: 'subscriptions, changes and their listeners',
    need: 'when used',
    demandedBy: 'SUB, RES, TOOL; DESIGN D8',
    paths: /^client\/src\/(?:changes|subscription|reopening|listeners)/,
  },
  {
    name: 'client: requests, pages, errors, `McpClient`',
    need: 'start',
    demandedBy: 'PAGE, PROG, CANCEL, TIME, TOOL; DESIGN 4, 5, D8',
    paths: /^client\//,
  },
  { name: 'the program', need: 'start', demandedBy: '', paths: /^/ },
];

/**
 * Measures the groups of one of the programs of measure-bundles.mjs, those that a start needs first.
 *
 * @param {Parameters<typeof bundleInOneFile>[0]} program
 * @returns {Promise<readonly (Group & { minifiedBytes: number, addedBytes: number, totalBytes: number })[]>} `addedBytes` after gzip.
 */
export async function measureGroups(program) {
  const texts = await textsOfSources(program);
  const order = ['start', 'first call', 'when used'];
  const rows = groups.map((group) => ({ ...group, text: '' }));
  for (const [path, text] of texts) rows.find(({ paths }) => paths.test(path)).text += text;
  let all = '';
  let totalBytes = 0;
  return rows
    .filter(({ text }) => text !== '')
    .sort((one, other) => order.indexOf(one.need) - order.indexOf(other.need))
    .map(({ text, ...group }) => {
      all += text;
      const before = totalBytes;
      totalBytes = gzipSync(all, { level: 9 }).length;
      return { ...group, minifiedBytes: text.length, addedBytes: totalBytes - before, totalBytes };
    });
}

/** The minified text of each source file, by its path below packages/, in the order of the bundle. */
async function textsOfSources(program) {
  const { code, map } = await bundleInOneFile(program);
  const texts = new Map();
  const lines = code.split('\n');
  let source = 'the program';
  for (const [index, segments] of decode(map.mappings).entries()) {
    const line = lines[index] ?? '';
    for (const [at, { column, source: number }] of segments.entries()) {
      if (number !== undefined)
        source = map.sources[number].replace(/^(?:\.\.\/)*packages\//, '').replace(/^(?:\.\.\/)+node_modules/, '../node_modules');
      texts.set(source, (texts.get(source) ?? '') + line.slice(at === 0 ? 0 : column, segments[at + 1]?.column ?? line.length));
    }
  }
  return texts;
}

const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** Reads a source map's mappings as far as they say which source a column begins. */
function decode(mappings) {
  let source = 0;
  return mappings.split(';').map((line) => {
    let column = 0;
    return (line === '' ? [] : line.split(',')).map((segment) => {
      const [columns, sources] = numbersOf(segment);
      column += columns;
      if (sources !== undefined) source += sources;
      return { column, source: sources === undefined ? undefined : source };
    });
  });
}

/** The numbers of a segment: groups of five bits, the lowest first, the lowest bit of all being the sign. */
function numbersOf(segment) {
  const numbers = [];
  let value = 0;
  let shift = 0;
  for (const character of segment) {
    const digit = digits.indexOf(character);
    value |= (digit & 31) << shift;
    shift += 5;
    if (digit >= 32) continue;
    numbers.push(value & 1 ? -(value >> 1) : value >> 1);
    value = shift = 0;
  }
  return numbers;
}
