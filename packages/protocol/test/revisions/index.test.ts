/** The list of revisions and the questions asked of it. */

import { findRevision, NEWEST, NEWEST_LEGACY, REVISIONS, revisionsOf, supportedVersions } from '@mortise/protocol';
import {
  ASSUMED_WITHOUT_HEADER,
  chooseLegacy,
  chooseModern,
  findNotification,
  findRequest,
  negotiateLegacy,
} from '@mortise/protocol/revisions';
import { describe, expect, it } from 'vitest';
import { revisionOf, VERSIONS } from './wire.ts';

describe('the list', () => {
  it('holds the five revisions, newest first', () => {
    expect(supportedVersions()).toEqual(VERSIONS.toReversed());
    expect(NEWEST.version).toBe('2026-07-28');
    expect(ASSUMED_WITHOUT_HEADER.version).toBe('2025-03-26');
  });

  it('[LIFE-010] compares versions whole', () => {
    expect(findRevision('2025-06-18')?.version).toBe('2025-06-18');
    for (const version of ['2025-06-18 ', '2025-06', '2025-6-18', '2099-01-01', 'DRAFT-2026', '', 5, null, undefined, {}, 'constructor'])
      expect(findRevision(version)).toBeUndefined();
  });
});

describe('negotiation', () => {
  it.each(VERSIONS.slice(0, 4))('[LIFE-007] takes %s when it is offered', (version) => {
    expect(negotiateLegacy(version)?.version).toBe(version);
  });

  it.each(['2026-07-28', '2023-01-01', 'x', 5, undefined])('[LIFE-008] answers %s with the newest legacy revision', (offered) => {
    expect(negotiateLegacy(offered)?.version).toBe('2025-11-25');
    expect(negotiateLegacy(offered, [revisionOf('2025-03-26'), revisionOf('2024-11-05')])?.version).toBe('2025-03-26');
  });

  it('offers nothing where no legacy revision is spoken', () => {
    expect(negotiateLegacy('2025-11-25', [NEWEST])).toBeUndefined();
  });

  it('knows the newest revision that may be offered in a handshake', () => {
    expect(NEWEST_LEGACY.version).toBe('2025-11-25');
    expect(findRequest(NEWEST_LEGACY, 'initialize', 'client')).toBeDefined();
  });

  it('[VERS-010] chooses the newest modern revision of both sides', () => {
    expect(chooseModern(['2025-11-25', '2026-07-28', '2030-01-01'])?.version).toBe('2026-07-28');
    expect(chooseModern(['2030-01-01'])).toBeUndefined();
  });

  it('[ERA-026] never takes a legacy revision for a modern one', () => {
    expect(chooseModern(['2025-11-25', '2024-11-05'])).toBeUndefined();
    expect(chooseLegacy(['2024-11-05', '2025-06-18', '2026-07-28'])?.version).toBe('2025-06-18');
    expect(chooseLegacy(['2026-07-28'])).toBeUndefined();
  });
});

describe('methods', () => {
  it.each([
    ['initialize', VERSIONS.slice(0, 4)],
    ['server/discover', VERSIONS.slice(4)],
    ['ping', VERSIONS.slice(0, 4)],
    ['logging/setLevel', VERSIONS.slice(0, 4)],
    ['resources/subscribe', VERSIONS.slice(0, 4)],
    ['tasks/list', ['2025-11-25']],
    ['subscriptions/listen', VERSIONS.slice(4)],
    ['sampling/createMessage', []],
    ['toString', []],
  ])('%s may be requested by clients in the revisions that have it', (method, versions) => {
    expect(VERSIONS.filter((version) => findRequest(revisionOf(version), method, 'client') !== undefined)).toEqual(versions);
  });

  it('of servers are requests in the legacy era and embedded in the modern one', () => {
    for (const revision of revisionsOf('legacy')) expect(findRequest(revision, 'sampling/createMessage', 'server')).toBeDefined();
    expect(findRequest(NEWEST, 'sampling/createMessage', 'server')).toBeUndefined();
    expect(NEWEST.requests.get('sampling/createMessage')?.direction).toBe('embedded');
  });

  it('go only the way that they go', () => {
    expect(findNotification(NEWEST, 'notifications/progress', 'client')).toBeUndefined();
    expect(findNotification(NEWEST, 'notifications/progress', 'server')).toBeDefined();
    expect(findNotification(NEWEST_LEGACY, 'notifications/progress', 'client')).toBeDefined();
    expect(findRequest(NEWEST_LEGACY, 'tools/call', 'server')).toBeUndefined();
  });
});

describe('facts', () => {
  it('say where batches exist', () => {
    expect(REVISIONS.filter(({ rules }) => rules.batching).map(({ version }) => version)).toEqual(['2025-03-26']);
  });

  it('name the three methods that may be asked back', () => {
    expect([...NEWEST.requests].filter(([, { inputRequired }]) => inputRequired).map(([method]) => method)).toEqual([
      'tools/call',
      'resources/read',
      'prompts/get',
    ]);
    for (const revision of revisionsOf('legacy'))
      for (const { inputRequired } of revision.requests.values()) expect(inputRequired).toBeUndefined();
  });

  it('name the six results that may be kept', () => {
    const cacheable = [...NEWEST.requests].filter(([, facts]) => facts.cacheable).map(([method]) => method);
    expect(new Set(cacheable)).toEqual(
      new Set(['server/discover', 'tools/list', 'prompts/list', 'resources/list', 'resources/templates/list', 'resources/read']),
    );
  });

  it('name the codes that a revision may send', () => {
    expect([...NEWEST.errorCodes.values()]).toEqual([-32020, -32021, -32022]);
    expect([...NEWEST_LEGACY.errorCodes.values()]).toEqual([-32002, -32042]);
    expect(REVISIONS.map(({ rules }) => rules.resourceNotFoundCode)).toEqual([-32602, -32002, -32002, -32002, -32002]);
  });

  it('say what HTTP looks like', () => {
    expect(REVISIONS.filter(({ http }) => http.sessions).map(({ version }) => version)).toEqual(['2025-11-25', '2025-06-18', '2025-03-26']);
    expect(REVISIONS.filter(({ http }) => http.disconnectCancels)).toEqual([NEWEST]);
    expect(NEWEST.http.statusByCode.get(-32601)).toBe(404);
    expect(NEWEST_LEGACY.http.statusByCode.get(-32601)).toBeUndefined();
  });
});
