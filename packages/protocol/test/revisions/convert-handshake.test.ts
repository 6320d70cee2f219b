/** Capabilities and implementations, written for and read from each revision. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { NEWEST } from '@mortise/protocol';
import { clientCapabilitiesFor, serverCapabilitiesFor } from '@mortise/protocol/revisions';
import { describe, expect, it } from 'vitest';
import { readParams, readResult, revisionOf, VERSIONS, writeParams, writeResult } from './wire.ts';

const client = {
  experimental: { x: {} },
  roots: { listChanged: true },
  sampling: { tools: {}, context: {} },
  elicitation: { form: {}, url: {} },
  tasks: { list: {}, requests: { sampling: { createMessage: {} } } },
  extensions: { 'com.example/a': {} },
  unheard: { of: true },
};
const server = {
  experimental: { x: {} },
  logging: {},
  completions: {},
  prompts: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  tools: { listChanged: true },
  tasks: { list: {}, requests: { tools: { call: {} } } },
  extensions: { 'com.example/a': {} },
};
const info = {
  name: 'n',
  title: 'N',
  version: '1',
  description: 'd',
  websiteUrl: 'https://example.com',
  icons: [{ src: 'https://example.com/i.png' }],
};
const initialize: JsonObject = { protocolVersion: 'v', capabilities: client, clientInfo: info };

const always = { experimental: { x: {} }, unheard: { of: true } };
const CLIENT: Readonly<Record<string, JsonObject>> = {
  '2024-11-05': { ...always, roots: { listChanged: true }, sampling: {} },
  '2025-03-26': { ...always, roots: { listChanged: true }, sampling: {} },
  '2025-06-18': { ...always, roots: { listChanged: true }, sampling: {}, elicitation: {} },
  '2025-11-25': client,
  '2026-07-28': { ...client, roots: {}, tasks: undefined },
};
const { tasks: _tasks, extensions: _extensions, completions: _completions, ...first } = server;
const SERVER: Readonly<Record<string, JsonObject>> = {
  '2024-11-05': first,
  '2025-03-26': { ...first, completions: {} },
  '2025-06-18': { ...first, completions: {} },
  '2025-11-25': { ...first, completions: {}, tasks: server.tasks, extensions: server.extensions },
  '2026-07-28': { ...first, completions: {}, extensions: server.extensions },
};

describe('capabilities', () => {
  it.each(VERSIONS)('[LIFE-014][CAP-011][VERS-015] of a client have in %s the keys of that revision', (version) => {
    const written = clientCapabilitiesFor(revisionOf(version), client);
    expect(written).toEqual(JSON.parse(JSON.stringify(CLIENT[version])));
    if (revisionOf(version).era === 'legacy') expect(writeParams(version, 'initialize', initialize)['capabilities']).toEqual(written);
  });

  it.each(VERSIONS)('[LIFE-015][CAP-010][VERS-015] of a server have in %s the keys of that revision', (version) => {
    const written = serverCapabilitiesFor(revisionOf(version), server);
    expect(written).toEqual(SERVER[version]);
    const method = revisionOf(version).era === 'legacy' ? 'initialize' : 'server/discover';
    expect(writeResult(version, method, { capabilities: server })['capabilities']).toEqual(written);
  });

  it('[LIFE-016][CAP-009] keep keys that nobody knows, on sending and on reading', () => {
    for (const version of VERSIONS.slice(0, 4)) {
      expect(writeParams(version, 'initialize', initialize)['capabilities']).toHaveProperty('unheard', { of: true });
      expect(readParams(version, 'initialize', initialize)['capabilities']).toHaveProperty('unheard', { of: true });
    }
  });

  it('[ROOT-003] have no roots.listChanged in 2026-07-28', () => {
    expect(clientCapabilitiesFor(NEWEST, { roots: { listChanged: true } })).toEqual({ roots: {} });
  });

  it('[CAP-013] have extensions since 2025-11-25 when they are sent', () => {
    const capabilities = { extensions: { 'com.example/a': { b: 1 } } };
    for (const convert of [clientCapabilitiesFor, serverCapabilitiesFor]) {
      expect(convert(NEWEST, capabilities)).toBe(capabilities);
      expect(convert(revisionOf('2025-11-25'), capabilities)).toBe(capabilities);
      expect(convert(revisionOf('2025-06-18'), capabilities)).toEqual({});
    }
  });

  it('that a revision does not have mean nothing when it is read', () => {
    const read = (version: string): unknown => readParams(version, 'initialize', initialize)['capabilities'];
    expect(read('2025-03-26')).not.toHaveProperty('elicitation');
    expect(read('2025-06-18')).toHaveProperty('elicitation', {});
    expect(read('2025-06-18')).not.toHaveProperty('tasks');
    expect(read('2025-06-18')).toHaveProperty('extensions');
    expect(readResult('2024-11-05', 'initialize', { capabilities: server })['capabilities']).not.toHaveProperty('completions');
    expect(readResult('2026-07-28', 'server/discover', { capabilities: server })['capabilities']).not.toHaveProperty('tasks');
  });
});

describe('implementations', () => {
  it.each([
    ['2024-11-05', ['name', 'version']],
    ['2025-03-26', ['name', 'version']],
    ['2025-06-18', ['name', 'title', 'version']],
    ['2025-11-25', Object.keys(info)],
  ])('[LIFE-017] have in %s the members of that revision', (version, members) => {
    expect(Object.keys(writeParams(version, 'initialize', initialize)['clientInfo'] as JsonObject)).toEqual(members);
    expect(
      Object.keys(
        writeResult(version, 'initialize', { protocolVersion: version, capabilities: {}, serverInfo: info })['serverInfo'] as JsonObject,
      ),
    ).toEqual(members);
  });
});
