/** Composing revisions: a sixth one needs nothing of the others. */

import { describe, expect, it } from 'vitest';
import { composeRevisions, defineRevision } from '../../src/revisions/define-revision.ts';
import { revision as first } from '../../src/revisions/2024-11-05/index.ts';

describe('defineRevision', () => {
  const next = defineRevision({
    version: 'next',
    era: 'legacy',
    after: first,
    adds: { requests: { 'things/list': { direction: 'client-to-server', paged: true } }, clientCapabilities: ['things'] },
    changes: { requests: { 'tools/call': { nameParam: 'name' } } },
    removes: { requests: ['ping'], clientCapabilities: ['sampling'] },
    rules: { batching: true },
    http: {},
    convert: {
      toPrevious: { results: { 'tools/call': (value) => ({ ...value, undone: true }) } },
      withoutRemoved: { results: { 'tools/call': (value) => ({ ...value, cleared: true }) } },
      fromPrevious: { results: { 'tools/call': (value) => ({ ...value, read: true }) } },
    },
  });

  it('adds, changes and removes', () => {
    expect(next.requests.get('things/list')).toEqual({ direction: 'client-to-server', paged: true });
    expect(next.requests.get('tools/call')).toEqual({ direction: 'client-to-server', serverCapability: 'tools', nameParam: 'name' });
    expect(next.requests.has('ping')).toBe(false);
    expect([...next.clientCapabilities]).toEqual(['experimental', 'roots', 'roots.listChanged', 'things']);
    expect(next.rules).toEqual({ ...first.rules, batching: true });
    expect(first.requests.has('ping')).toBe(true);
  });

  it('refuses to change or remove what was not there', () => {
    const base = { version: 'x', era: 'legacy', after: first, rules: {}, http: {} } as const;
    expect(() => defineRevision({ ...base, removes: { requests: ['nope'] } })).toThrow(/nope/);
    expect(() => defineRevision({ ...base, changes: { requests: { nope: {} } } })).toThrow(/nope/);
  });

  it('undoes newer hops for an older peer, and clears what was removed for itself and newer ones', () => {
    const [newest, oldest] = composeRevisions(next);
    expect(oldest?.toWire.results.get('tools/call')?.({})).toEqual({ undone: true });
    expect(newest?.toWire.results.get('tools/call')?.({})).toEqual({ cleared: true });
    expect(oldest?.fromWire.results.get('tools/call')?.({})).toEqual({ read: true });
    expect(newest?.fromWire.results.has('tools/call')).toBe(false);
    expect(newest?.toWire.results.has('resources/list')).toBe(false);
  });
});
