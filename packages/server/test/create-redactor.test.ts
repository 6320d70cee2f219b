import type { JsonObject } from '@mortise/jsonrpc-core';
import { describe, expect, it } from 'vitest';
import { redact } from '../src/middleware/redact.ts';
import { createRedactor } from '../src/middleware/redact.ts';
import { createCall } from './middleware/call.ts';
import { countCpuMs } from '../../../scripts/test/cpu-time.ts';

const hide = createRedactor();

/** Put together here, so that no scanner takes a test for a leak. */
const secrets: readonly (readonly [string, string])[] = [
  ['an AWS key', `AKIA${'ABCDEFGH12345678'}`],
  ['a GitHub token', `ghp_${'a'.repeat(36)}`],
  ['a Slack token', `xoxb-${'1234567890-abcdef'}`],
  ['an API key', `sk-${'abcdefghij1234567890XYZ'}`],
  ['a Google key', `AIza${'B'.repeat(35)}`],
  ['a JWT', `eyJ${'hbGciOiJIUzI1NiJ9'}.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl`],
  ['a bearer header', `Bearer ${'abcdef123456'}`],
  ['a private key', `-----BEGIN RSA PRIVATE KEY-----\n${'MIIB'.repeat(20)}\n-----END RSA PRIVATE KEY-----`],
];

describe('createRedactor', () => {
  it.each(secrets)('[LOG-013] takes %s out of text', (_name, secret) => {
    expect(hide(`before ${secret} after`)).toBe('before [redacted] after');
    expect(hide({ deep: [{ note: secret }] })).toEqual({ deep: [{ note: '[redacted]' }] });
  });

  it('[LOG-013] takes the values of telling names out of data', () => {
    expect(hide({ user: 'ann', password: 'a', Api_Key: 'b', 'client-secret': 'c', nested: { accessToken: 'd', pin: 1234 } })).toEqual({
      user: 'ann',
      password: '[redacted]',
      Api_Key: '[redacted]',
      'client-secret': '[redacted]',
      nested: { accessToken: '[redacted]', pin: 1234 },
    });
  });

  it('looks into JSON within text, so that a mirror tells no more than the data', () => {
    expect(hide('{"user":"ann","refresh_token":"x y z"}')).toBe('{"user":"ann","refresh_token":"[redacted]"}');
    expect(hide('[\n  {"token": "abc"}\n]')).toBe('[\n  {\n    "token": "[redacted]"\n  }\n]');
    expect(hide('{ "spaces" :  "stay" }')).toBe('{ "spaces" :  "stay" }');
    expect(hide('{not json')).toBe('{not json');
  });

  it('takes passwords out of URLs and of "name = value" in text', () => {
    expect(hide('postgres://ann:hunter22@db.local/x')).toBe('postgres://ann:[redacted]@db.local/x');
    expect(hide('password = "hunter22", api_key: abcdef99')).toBe('password = "[redacted]", api_key: [redacted]');
  });

  it('gives what has no secret back as it is, not copied', () => {
    const value = {
      content: [{ type: 'text', text: 'A token bucket limits requests; nextPageToken is no secret.' }],
      nextPageToken: 'p2',
      n: 1,
      none: null,
    };
    expect(hide(value)).toBe(value);
  });

  it('knows forms and names that it is told', () => {
    const own = createRedactor({ patterns: [/\bEMP-\d{6}\b/], names: ['iban'] });
    expect(own({ text: 'EMP-123456 and EMP-654321', IBAN: 'DE00' })).toEqual({ text: '[redacted] and [redacted]', IBAN: '[redacted]' });
  });

  it('takes time linear in what it is given', () => {
    const hostile = [
      'eyJaaaaaaaa-',
      'Bearer a ',
      'a://b:',
      'password ',
      'sk-',
      '-----BEGIN PRIVATE KEY',
      '{"a":',
      'ghp_aaaaaaaaaaaaaaaaaaaaa ',
    ];
    for (const piece of hostile) {
      const cpuMs = countCpuMs();
      hide(piece.repeat(Math.ceil(500_000 / piece.length)));
      expect(cpuMs(), piece).toBeLessThan(2_000);
    }
  });
});

describe('redact', () => {
  const secret = `sk-${'abcdefghij1234567890XYZ'}`;
  const run = async (method: string, result: JsonObject): Promise<JsonObject> => redact()(createCall({ method }), async () => result);

  it('[TOOL-046] takes secrets out of text and structured content alike', async () => {
    const result = {
      content: [{ type: 'text', text: `{"key":"${secret}","password":"p"}` }],
      structuredContent: { key: secret, password: 'p' },
    };
    const clean = { key: '[redacted]', password: '[redacted]' };
    expect(await run('tools/call', result)).toEqual({ content: [{ type: 'text', text: JSON.stringify(clean) }], structuredContent: clean });
  });

  it.each(['resources/read', 'prompts/get', 'completion/complete'])(
    '[COMP-009][PROMPT-013] takes secrets out of the answer of %s',
    async (method) => {
      expect(
        JSON.stringify(await run(method, { values: [secret], messages: [{ content: { type: 'text', text: secret } }] })),
      ).not.toContain(secret);
    },
  );

  it('leaves lists, encoded bytes and questions to the client alone', async () => {
    const list = { tools: [{ name: 'x', description: secret }] };
    expect(await run('tools/list', list)).toBe(list);
    const asking = { resultType: 'input_required', requestState: secret };
    expect(await run('tools/call', asking)).toBe(asking);
    const image = { content: [{ type: 'image', mimeType: 'image/png', data: `AKIA${'ABCDEFGH12345678'}` }] };
    expect(await run('tools/call', image)).toBe(image);
  });
});
