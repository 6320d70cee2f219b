/** The small questions that model files answer. */

import { isInitializeRequest, LOGGING_LEVELS } from '@mortise/protocol';
import { isInputRequired, isLevelEnabled, isLoggingLevel, isProgressToken } from '@mortise/protocol/checks';
import { describe, expect, it } from 'vitest';

describe('model guards', () => {
  it('[LOG-002] know exactly the eight levels, least to most severe', () => {
    expect(LOGGING_LEVELS).toEqual(['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency']);
    for (const level of LOGGING_LEVELS) expect(isLoggingLevel(level)).toBe(true);
    for (const other of ['warn', 'DEBUG', '', 3, null, undefined]) expect(isLoggingLevel(other)).toBe(false);
  });

  it('tell whether a level is severe enough', () => {
    expect(isLevelEnabled('error', 'warning')).toBe(true);
    expect(isLevelEnabled('warning', 'warning')).toBe(true);
    expect(isLevelEnabled('info', 'warning')).toBe(false);
  });

  it('[META-021] take a string or an integer as a progress token', () => {
    for (const token of ['', 'a', 0, -5]) expect(isProgressToken(token)).toBe(true);
    for (const other of [1.5, null, undefined, true, {}, Number.NaN, 2 ** 60]) expect(isProgressToken(other)).toBe(false);
  });

  it('know an initialize request', () => {
    const request = { jsonrpc: '2.0', id: 1, method: 'initialize', params: {} };
    expect(isInitializeRequest(request)).toBe(true);
    for (const other of [
      { ...request, id: null },
      { ...request, method: 'ping' },
      { ...request, jsonrpc: '1.0' },
      { jsonrpc: '2.0', method: 'initialize', params: {} },
      null,
      [request],
    ]) {
      expect(isInitializeRequest(other)).toBe(false);
    }
  });

  it('know results that ask', () => {
    expect(isInputRequired({ resultType: 'input_required' })).toBe(true);
    expect(isInputRequired({})).toBe(false);
  });
});
