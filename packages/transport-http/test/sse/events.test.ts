import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { encodeEvent, encodeMessageEvent, SSE_KEEP_ALIVE, SseDecoder, type SseEvent } from '@mortise/transport-http';
import { countCpuMs } from '../../../../scripts/test/cpu-time.ts';

const bytes = new TextEncoder();

function decode(text: string, pieceLength = text.length): readonly SseEvent[] {
  const decoder = new SseDecoder();
  const all = bytes.encode(text);
  const events: SseEvent[] = [];
  for (let at = 0; at < all.length; at += pieceLength) events.push(...decoder.push(all.slice(at, at + pieceLength)));
  return events;
}

function event(data: string, more: Partial<SseEvent> = {}): SseEvent {
  return { event: 'message', data, id: undefined, retryMs: undefined, ...more };
}

describe('reading server-sent events', () => {
  it.each([
    ['data: a\n\n', [event('a')]],
    ['data:a\r\rdata: b\r\r', [event('a'), event('b')]],
    ['data: a\r\n\r\ndata: b\n\n', [event('a'), event('b')]],
    ['data: a\ndata: b\n\n', [event('a\nb')]],
    ['data\n\n', [event('')]],
    ['data:  two spaces\n\n', [event(' two spaces')]],
    ['event: endpoint\ndata: /x\n\n', [event('/x', { event: 'endpoint' })]],
    ['event: endpoint\r\nid: 7\r\nretry: 500\r\ndata: /x\r\n\r\n', [event('/x', { event: 'endpoint', id: '7', retryMs: 500 })]],
    ['id: 7\ndata:\n\n', [event('', { id: '7' })]],
    ['id: 7\n\n', [event('', { id: '7' })]],
    ['retry: 500\n\n', [event('', { retryMs: 500 })]],
    ['retry: soon\ndata: a\n\n', [event('a')]],
    [`retry: ${'9'.repeat(20)}\n\n`, [event('', { retryMs: 1e20 })]],
    [`retry: ${'9'.repeat(400)}\n\n`, [event('', { retryMs: Infinity })]],
    ['id: a\0b\ndata: a\n\n', [event('a')]],
    [':\n\n: comment\n\ndata: a\n\n', [event('a')]],
    ['nonsense\nDATA: x\ndata: a\n\n', [event('a')]],
    ['\ufeffdata: a\n\n', [event('a')]],
    ['event: x\n\ndata: a\n\n', [event('a')]],
    ['data: unfinished', []],
  ] as const)('[HTTPM-012] reads %j, whatever the pieces', (text, expected) => {
    for (const length of [text.length, 1, 2, 3]) expect(decode(text, length)).toEqual(expected);
  });

  it('keeps characters whole that a piece splits', () => {
    expect(decode('data: 世界 🌍\n\n', 1)).toEqual([event('世界 🌍')]);
  });

  it('reads what it wrote', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 9 }), (data, pieceLength) => {
        const lines = data.replaceAll(/\r\n|\r/g, '\n');
        expect(decode(encodeEvent({ event: 'e', id: '1', data }), pieceLength)).toEqual([event(lines, { event: 'e', id: '1' })]);
      }),
    );
  });

  it('refuses an event past the bound, in one line or in many', () => {
    const long = new SseDecoder(100);
    expect(() => long.push(bytes.encode(`data: ${'x'.repeat(200)}`))).toThrow(expect.objectContaining({ code: 'ERR_MESSAGE_TOO_LARGE' }));
    const many = new SseDecoder(100);
    expect(() => many.push(bytes.encode('data: 123456\n'.repeat(20)))).toThrow(expect.objectContaining({ code: 'ERR_MESSAGE_TOO_LARGE' }));
  });

  it('tells which message an event past the bound holds, however it comes', () => {
    const message = `{"jsonrpc":"2.0","id":7,"result":{"a":"${'x'.repeat(200)}"}}`;
    const cases = [
      [`data: ${message}\n`],
      [`data:${message}`],
      ['id: 1\ndata: {"json', 'rpc":"2.0","id":7,"re', 'sult":{', message],
      [`data: ${message.slice(0, 60)}\n`, `data: ${'x'.repeat(200)}`],
    ];
    for (const pieces of cases) {
      const decoder = new SseDecoder(100);
      const push = (): void => pieces.forEach((piece) => void decoder.push(bytes.encode(piece)));
      expect(push).toThrow(expect.objectContaining({ head: { kind: 'response', id: 7 } }));
    }
    const other = new SseDecoder(100);
    expect(() => other.push(bytes.encode(`id: ${'x'.repeat(200)}`))).toThrow(expect.objectContaining({ head: undefined }));
  });

  it('[ROBUSTNESS-7] counts lines that hold nothing', () => {
    const decoder = new SseDecoder(100);
    expect(() => decoder.push(bytes.encode('data\n'.repeat(20)))).toThrow(expect.objectContaining({ code: 'ERR_MESSAGE_TOO_LARGE' }));
  });

  it('reads a long line that comes byte by byte', () => {
    const decoder = new SseDecoder();
    const data = 'abcdefghij'.repeat(1_000);
    const events = [...bytes.encode(`data: ${data}\n\n`)].flatMap((byte) => decoder.push(Uint8Array.of(byte)));
    expect(events.map((event) => event.data)).toEqual([data]);
  });

  it('counts the bound anew for each event, and not for comments', () => {
    const decoder = new SseDecoder(100);
    const keepAlives = SSE_KEEP_ALIVE.repeat(200) + ': still here\n'.repeat(200);
    expect(decoder.push(bytes.encode(`${keepAlives}data: ${'x'.repeat(80)}\n\n`.repeat(5)))).toHaveLength(5);
  });

  it.each([
    ['\n', 1],
    ['\r', 1],
    ['\n', 2],
  ])('is linear in what arrives (%j)', (lineEnd, pieces) => {
    const text = `data: x${lineEnd}`.repeat(200_000) + lineEnd;
    const cpuMs = countCpuMs();
    decode(text, Math.ceil(text.length / pieces));
    expect(cpuMs()).toBeLessThan(2_000);
  });
});

describe('writing server-sent events', () => {
  it('writes messages on one line, with an id where there is one', () => {
    expect(encodeMessageEvent('{"a":1}')).toBe('event: message\ndata: {"a":1}\n\n');
    expect(encodeMessageEvent('{"a":1}', 'p1_2')).toBe('event: message\nid: p1_2\ndata: {"a":1}\n\n');
  });

  it('[HTTP-029] writes a priming event with an id and empty data', () => {
    expect(decode(encodeEvent({ id: 'p1_1', retryMs: 1000, data: '' }))).toEqual([event('', { id: 'p1_1', retryMs: 1000 })]);
    expect(encodeEvent({ id: 'p1_1', retryMs: 1000, data: '' })).toMatch(/^data: ?$/m);
  });
});
