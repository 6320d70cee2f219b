import { decodeHeaderValue } from '@mortise/transport-http';
import { describe, expect, it } from 'vitest';
import { mediaTypeOf } from '../../src/client/message-reader.ts';
import { isJsonContentType, namesEventStream, readAccepts } from '../../src/headers.ts';
import { countCpuMs } from '../../../../scripts/test/cpu-time.ts';

describe('header values', () => {
  // Far past what Node lets through: whoever reads each character once is done at once, whoever goes back over them is not.
  const long = 200_000;
  it.each([
    ['spaces', ' '.repeat(long)],
    ['weights that end elsewhere', `*/*;${' '.repeat(long)}q = 0.${'0'.repeat(long)}x`],
    ['a character set that ends elsewhere', `application/json;charset=${' '.repeat(long)}"utf-8"${' '.repeat(long)}x`],
    ['commas', ','.repeat(long)],
    ['parameters', `application/json${';q=0'.repeat(long / 4)}`],
    ['base64', `=?base64?${'A'.repeat(long)}`],
    ['base64 of ends', `=?base64?${'?='.repeat(long / 2)}`],
  ])('[ROBUSTNESS-6] are read in time that grows with their length: %s', (_, value) => {
    const cpuMs = countCpuMs();
    for (const read of [isJsonContentType, namesEventStream, readAccepts, mediaTypeOf, decodeHeaderValue]) read(value);
    expect(cpuMs()).toBeLessThan(1_000);
  });

  it.each([
    ['application/json', true],
    ['Application/JSON; charset=UTF-8', true],
    ['application/json; charset="utf-8"; x=y', true],
    ['application/json; charset=latin1', false],
    ['application/jsonx', false],
    ['text/plain; application/json', false],
    [undefined, false],
  ])('[ROBUSTNESS-2] announce JSON by exact media type: %s', (value, isJson) => {
    expect(isJsonContentType(value)).toBe(isJson);
  });
});
