/** MCP's own errors: as they are sent, and as they are read. */

import { RemoteError } from '@mortise/jsonrpc-core';
import { NEWEST, NEWEST_LEGACY } from '@mortise/protocol';
import {
  isModernError,
  isResourceNotFound,
  missingCapabilityError,
  readMissingCapabilities,
  readSupportedVersions,
  resourceNotFoundError,
  unsupportedVersionError,
  urlElicitationRequiredError,
} from '@mortise/protocol/wire';
import { describe, expect, it } from 'vitest';

describe('errors that are sent', () => {
  it('[ERR-006] name what is spoken and what was asked for', () => {
    expect(unsupportedVersionError('1999-01-01', ['2026-07-28'])).toMatchObject({
      rpcCode: -32022,
      data: { supported: ['2026-07-28'], requested: '1999-01-01' },
    });
  });

  it('[ERR-005] name the capabilities that are missing', () => {
    const error = missingCapabilityError({ elicitation: { url: {} }, extensions: { 'com.example/a': {} } });
    expect(error).toMatchObject({
      rpcCode: -32021,
      data: { requiredCapabilities: { elicitation: { url: {} }, extensions: { 'com.example/a': {} } } },
    });
    expect(error.message).toBe('The request needs client capabilities that it does not declare: elicitation.url, extensions');
  });

  it('say that there is no resource in the words of the revision', () => {
    expect(resourceNotFoundError('a://b', NEWEST.rules.resourceNotFoundCode)).toMatchObject({ rpcCode: -32602, data: { uri: 'a://b' } });
    expect(resourceNotFoundError('a://b', NEWEST_LEGACY.rules.resourceNotFoundCode)).toMatchObject({
      rpcCode: -32002,
      data: { uri: 'a://b' },
    });
  });

  it('list the pages to be opened first', () => {
    const page = { mode: 'url', message: 'm', url: 'https://example.com', elicitationId: 'e' } as const;
    expect(urlElicitationRequiredError([page], 'Sign in first')).toMatchObject({
      rpcCode: -32042,
      message: 'Sign in first',
      data: { elicitations: [page] },
    });
  });
});

describe('errors that are read', () => {
  it('prove a modern peer only with the three codes of its own', () => {
    for (const code of [-32020, -32021, -32022]) expect(isModernError(code)).toBe(true);
    for (const code of [-32601, -32602, -32600, -32001, -32003, -32004, -32000, -32042, -32023, 404])
      expect(isModernError(code)).toBe(false);
  });

  it('[ERR-010][CAP-024] tell a missing capability by -32021, and by -32003 only where its data says so', () => {
    const data = { requiredCapabilities: { sampling: {} } };
    expect(readMissingCapabilities({ code: -32021, data })).toEqual({ sampling: {} });
    expect(readMissingCapabilities({ code: -32003, data })).toEqual({ sampling: {} });
    for (const error of [
      { code: -32003 },
      { code: -32003, data: 'x' },
      { code: -32001, data },
      { code: -32004, data },
      { code: -32021, data: [] },
    ])
      expect(readMissingCapabilities(error)).toBeUndefined();
  });

  it('offer versions to go on with', () => {
    expect(readSupportedVersions({ code: -32022, data: { supported: ['a', 'b'], requested: 'c' } })).toEqual(['a', 'b']);
    for (const error of [
      { code: -32022 },
      { code: -32022, data: { supported: 'a' } },
      { code: -32022, data: { supported: [1] } },
      { code: -32004, data: { supported: ['a'] } },
    ]) {
      expect(readSupportedVersions(error)).toBeUndefined();
    }
  });

  it('[ERR-012][RES-008] know "no such resource" in the words of every revision', () => {
    expect(isResourceNotFound(new RemoteError({ code: -32002, message: 'gone' }))).toBe(true);
    expect(isResourceNotFound(new RemoteError({ code: -32602, message: 'gone', data: { uri: 'a://b' } }))).toBe(true);
    expect(isResourceNotFound(new RemoteError({ code: -32602, message: 'bad' }))).toBe(false);
    expect(isResourceNotFound(new RemoteError({ code: -32000, message: 'gone', data: { uri: 'a://b' } }))).toBe(false);
  });
});
