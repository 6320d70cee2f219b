import { describe, expect, it } from 'vitest';
import { toDigestKey } from '../../src/encoding.ts';

describe('toDigestKey', () => {
  it('names a method and 132 bits of a digest', () => {
    expect(toDigestKey('elicitation/create', '2jmj7l5rSw0yVb_vlWAYkK-iYB6qBf0LmTCGrVZK1PA')).toBe('elicitation-2jmj7l5rSw0yVb_vlWAYkK');
    expect(toDigestKey('ping', '2jmj')).toBe('ping-2jmj');
  });
});
