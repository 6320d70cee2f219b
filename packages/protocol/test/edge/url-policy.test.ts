/** Rule 11: URLs from a peer are suspects. */

import { checkUrl, classifyHost, isLoopbackHost } from '@mortise/protocol/edge';
import { describe, expect, it } from 'vitest';

describe('rule 11: checkUrl', () => {
  it.each([
    'https://example.com',
    'https://example.com:8443/a?b#c',
    'https://93.184.216.34/',
    'https://[2606:4700::1111]/',
    'https://[64:ff9b::8.8.8.8]/',
    'https://[::ffff:0:8.8.8.8]/',
  ])('lets %s pass', (url) => {
    expect(checkUrl(url)).toBeUndefined();
    expect(checkUrl(new URL(url))).toBeUndefined();
  });

  it.each([
    'http://example.com',
    'ftp://example.com',
    'javascript:alert(1)',
    'file:///etc/passwd',
    'data:text/html,x',
    'example.com',
    '',
    '//example.com',
    'https://',
    'https://user:secret@example.com',
    'https://user@example.com',
    'https://$(id).example.com',
    "https://'a'.example.com",
    'https://a&b.example.com',
    'https://a;b.example.com',
  ])('refuses %s', (url) => {
    const reason = checkUrl(url);
    expect(reason).toBeDefined();
    expect(reason).not.toContain('secret');
  });

  it.each([
    'https://localhost',
    'https://localhost.',
    'https://a.localhost',
    'https://127.0.0.1',
    'https://127.1',
    'https://2130706433',
    'https://0x7f000001',
    'https://0x7f.0.0.1',
    'https://0177.0.0.1',
    'https://017700000001',
    'https://127.0.0.1.',
    'https://[::1]',
    'https://[0:0:0:0:0:0:0:1]',
    'https://[::ffff:127.0.0.1]',
    'https://[::ffff:7f00:1]',
    'https://[64:ff9b::127.0.0.1]',
    'https://[::ffff:0:127.0.0.1]',
    'https://①②⑦.0.0.1',
  ])('refuses %s, which is this machine', (url) => {
    expect(checkUrl(url)).toMatch(/this machine/);
    expect(checkUrl(url, { allowLoopback: true })).toBeUndefined();
  });

  it.each([
    'https://10.0.0.1',
    'https://172.16.0.1',
    'https://172.31.255.255',
    'https://192.168.1.1',
    'https://169.254.169.254/latest/meta-data',
    'https://2852039166',
    'https://0xa9fea9fe',
    'https://0251.0376.0251.0376',
    'https://100.64.0.1',
    'https://0.0.0.0',
    'https://0',
    'https://224.0.0.1',
    'https://255.255.255.255',
    'https://198.18.0.1',
    'https://[fc00::1]',
    'https://[fd12::1]',
    'https://[fe80::1]',
    'https://[::]',
    'https://[ff02::1]',
    'https://[::ffff:10.0.0.1]',
    'https://[::ffff:a9fe:a9fe]',
    'https://[64:ff9b::a9fe:a9fe]',
    'https://[64:ff9b::10.0.0.1]',
    'https://[64:ff9b:1::8.8.8.8]',
    'https://[::ffff:0:10.0.0.1]',
    'https://[::ffff:0:a9fe:a9fe]',
    'https://[2002:a9fe:a9fe::]',
    'https://[::10.0.0.1]',
    'https://[2001:db8::1]',
    'https://metadata.google.internal',
    'https://printer.local',
    'https://intranet',
    'https://nas.lan.',
    'https://api.default.svc',
  ])('refuses %s, which is private', (url) => {
    expect(checkUrl(url)).toMatch(/private or reserved/);
    expect(checkUrl(url, { allowPrivate: true })).toBeUndefined();
  });

  it('takes http to this machine only where this machine is allowed', () => {
    expect(checkUrl('http://localhost:3000/mcp')).toBeDefined();
    expect(checkUrl('http://localhost:3000/mcp', { allowLoopback: true })).toBeUndefined();
    expect(checkUrl('http://10.0.0.1', { allowPrivate: true })).toMatch(/not https/);
    expect(checkUrl('http://example.com', { allowHttp: true })).toBeUndefined();
  });

  it('takes hosts that are named, by their whole name', () => {
    const policy = { allowedHosts: ['auth.internal'] };
    expect(checkUrl('https://auth.internal/token', policy)).toBeUndefined();
    expect(checkUrl('https://x.auth.internal/token', policy)).toBeDefined();
    expect(checkUrl('http://auth.internal/token', policy)).toMatch(/not https/);
  });
});

describe('classifyHost', () => {
  it('reads addresses as a resolver gives them', () => {
    expect(classifyHost('::1')).toBe('loopback');
    expect(classifyHost('fe80::1%eth0')).toBe('private');
    expect(classifyHost('::ffff:127.0.0.1')).toBe('loopback');
    expect(classifyHost('8.8.8.8')).toBe('public');
    expect(classifyHost('2001:4860:4860::8888')).toBe('public');
    for (const odd of [':::', '1:2', '::1::', 'g::1', '1:2:3:4:5:6:7:8:9', '::ffff:300.1.1.1'])
      expect(classifyHost(odd)).not.toBe('public');
    expect(isLoopbackHost('127.0.0.1')).toBe(true);
    expect(isLoopbackHost('example.com')).toBe(false);
  });
});
