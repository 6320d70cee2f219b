/** URI templates: written as RFC 6570 says, and read back. */

import { UriTemplate, UriTemplateError } from '@mortise/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countCpuMs } from '../../../scripts/test/cpu-time.ts';

/** The variables of RFC 6570 section 3.2. */
const values = {
  count: ['one', 'two', 'three'],
  dom: ['example', 'com'],
  dub: 'me/too',
  hello: 'Hello World!',
  half: '50%',
  var: 'value',
  who: 'fred',
  base: 'http://example.com/home/',
  path: '/foo/bar',
  list: ['red', 'green', 'blue'],
  keys: { semi: ';', dot: '.', comma: ',' },
  v: '6',
  x: '1024',
  y: '768',
  empty: '',
  empty_keys: {},
  undef: undefined,
};

/** Template and URI, from sections 1.2 and 3.2.2 to 3.2.9. */
const published = [
  ['{var}', 'value'],
  ['{hello}', 'Hello%20World%21'],
  ['{half}', '50%25'],
  ['O{empty}X', 'OX'],
  ['O{undef}X', 'OX'],
  ['{x,y}', '1024,768'],
  ['{x,hello,y}', '1024,Hello%20World%21,768'],
  ['?{x,empty}', '?1024,'],
  ['?{x,undef}', '?1024'],
  ['?{undef,y}', '?768'],
  ['{var:3}', 'val'],
  ['{var:30}', 'value'],
  ['{list}', 'red,green,blue'],
  ['{list*}', 'red,green,blue'],
  ['{keys}', 'semi,%3B,dot,.,comma,%2C'],
  ['{keys*}', 'semi=%3B,dot=.,comma=%2C'],
  ['{+var}', 'value'],
  ['{+hello}', 'Hello%20World!'],
  ['{+half}', '50%25'],
  ['{base}index', 'http%3A%2F%2Fexample.com%2Fhome%2Findex'],
  ['{+base}index', 'http://example.com/home/index'],
  ['O{+empty}X', 'OX'],
  ['{+path}/here', '/foo/bar/here'],
  ['here?ref={+path}', 'here?ref=/foo/bar'],
  ['up{+path}{var}/here', 'up/foo/barvalue/here'],
  ['{+x,hello,y}', '1024,Hello%20World!,768'],
  ['{+path:6}/here', '/foo/b/here'],
  ['{+list*}', 'red,green,blue'],
  ['{+keys}', 'semi,;,dot,.,comma,,'],
  ['{#var}', '#value'],
  ['{#hello}', '#Hello%20World!'],
  ['foo{#empty}', 'foo#'],
  ['foo{#undef}', 'foo'],
  ['{#x,hello,y}', '#1024,Hello%20World!,768'],
  ['{#keys*}', '#semi=;,dot=.,comma=,'],
  ['{.who}', '.fred'],
  ['{.who,who}', '.fred.fred'],
  ['www{.dom*}', 'www.example.com'],
  ['X{.empty}', 'X.'],
  ['X{.undef}', 'X'],
  ['X{.var:3}', 'X.val'],
  ['X{.list}', 'X.red,green,blue'],
  ['X{.keys*}', 'X.semi=%3B.dot=..comma=%2C'],
  ['X{.empty_keys}', 'X'],
  ['{/who}', '/fred'],
  ['{/half,who}', '/50%25/fred'],
  ['{/var,empty}', '/value/'],
  ['{/var,undef}', '/value'],
  ['{/var:1,var}', '/v/value'],
  ['{/list*}', '/red/green/blue'],
  ['{/list*,path:4}', '/red/green/blue/%2Ffoo'],
  ['{/keys*}', '/semi=%3B/dot=./comma=%2C'],
  ['{;who}', ';who=fred'],
  ['{;empty}', ';empty'],
  ['{;v,empty,who}', ';v=6;empty;who=fred'],
  ['{;x,y,undef}', ';x=1024;y=768'],
  ['{;hello:5}', ';hello=Hello'],
  ['{;list}', ';list=red,green,blue'],
  ['{;list*}', ';list=red;list=green;list=blue'],
  ['{;keys*}', ';semi=%3B;dot=.;comma=%2C'],
  ['{?who}', '?who=fred'],
  ['{?x,y,empty}', '?x=1024&y=768&empty='],
  ['{?var:3}', '?var=val'],
  ['{?list}', '?list=red,green,blue'],
  ['{?list*}', '?list=red&list=green&list=blue'],
  ['{?keys*}', '?semi=%3B&dot=.&comma=%2C'],
  ['?fixed=yes{&x}', '?fixed=yes&x=1024'],
  ['{&x,y,empty}', '&x=1024&y=768&empty='],
] as const;

describe('expand', () => {
  it.each(published)('[RES-004] writes %s as %s', (template, uri) => {
    expect(UriTemplate.parse(template).expand(values)).toBe(uri);
  });

  it('encodes any Unicode, half pairs included, and literals that need it', () => {
    expect(UriTemplate.parse('a b{x}').expand({ x: 'é😀\uD800' })).toBe('a%20b%C3%A9%F0%9F%98%80%EF%BF%BD');
    expect(UriTemplate.parse('{x:2}').expand({ x: '😀😀😀' })).toBe('%F0%9F%98%80%F0%9F%98%80');
  });

  it('takes numbers and booleans, and no inherited value', () => {
    expect(UriTemplate.parse('{a}/{b}{constructor}').expand({ a: 5, b: false })).toBe('5/false');
  });
});

describe('parse', () => {
  it.each([
    '{',
    '}',
    'a{b',
    'a}b',
    '{}',
    '{a b}',
    '{=a}',
    '{!a}',
    '{|a}',
    '{a*:3}',
    '{a:0}',
    '{a:99999}',
    '{,a}',
    '{a,}',
    '{+}',
    '{{a}}',
    '{a.}..{',
  ])('[RES-004] refuses %s', (template) => {
    expect(() => UriTemplate.parse(template)).toThrow(UriTemplateError);
  });

  it('names the variables once each, in order', () => {
    expect(UriTemplate.parse('a://{b}/{c,b}{?d*,e:3}').variableNames).toEqual(['b', 'c', 'd', 'e']);
    expect(String(UriTemplate.parse('a://{b}'))).toBe('a://{b}');
  });

  it('bounds length and variables', () => {
    expect(() => UriTemplate.parse('a'.repeat(4097))).toThrow(/4096/);
    expect(() => UriTemplate.parse('{a}'.repeat(65))).toThrow(/65 variables/);
  });
});

describe('match', () => {
  it.each([
    ['greeting://{name}', 'greeting://World', { name: 'World' }],
    ['users://{id}/profile', 'users://42/profile', { id: '42' }],
    ['file:///{+path}', 'file:///a/b/c.txt', { path: 'a/b/c.txt' }],
    ['{+path}/meta', 'a/meta/b/meta', { path: 'a/meta/b' }],
    ['{+a}/{b}', 'x/y/z', { a: 'x/y', b: 'z' }],
    ['{a}-{b}', 'x-y-z', { a: 'x-y', b: 'z' }],
    ['repo://{owner}/{name}/issues/{number}', 'repo://o/n/issues/5', { owner: 'o', name: 'n', number: '5' }],
    ['docs://{/path*}', 'docs:///a/b%2Fc', { path: ['a', 'b/c'] }],
    ['docs:/{/path}', 'docs://a', { path: 'a' }],
    ['search{?q,limit}', 'search?limit=5&q=a%20b', { q: 'a b', limit: '5' }],
    ['search{?q,limit}', 'search', {}],
    ['search{?q,limit}', 'search?q=', { q: '' }],
    ['search?x=1{&tag*}', 'search?x=1&tag=a&tag=b', { tag: ['a', 'b'] }],
    ['map{;x,y}', 'map;y=2;x=1', { x: '1', y: '2' }],
    ['{x,y}', '1,2', { x: '1', y: '2' }],
    ['{x,y}', '1', { x: '1' }],
    ['{list*}', 'a,b', { list: ['a', 'b'] }],
    ['file{.ext}', 'file.tar', { ext: 'tar' }],
    ['page{#part}', 'page#a/b?c', { part: 'a/b?c' }],
    ['{a}{b}', 'xyz', { a: 'xy', b: 'z' }],
    ['a://{x}/{x}', 'a://1/1', { x: '1' }],
    ['greeting://{name}', 'greeting://Jos%C3%A9', { name: 'José' }],
    ['greeting://{name}', 'greeting://José', { name: 'José' }],
    ['a://{v}', 'a://x:y@z', { v: 'x:y@z' }],
    ['{code:2}/x', 'de/x', { code: 'de' }],
    ['schema://main', 'schema://main', {}],
  ])('reads %s from %s', (template, uri, expected) => {
    expect({ ...UriTemplate.parse(template).match(uri) }).toEqual(expected);
    expect(UriTemplate.parse(template).match(uri)).toBeDefined();
  });

  it.each([
    ['greeting://{name}', 'greeting://'],
    ['greeting://{name}', 'greeting://a/b'],
    ['greeting://{name}', 'greeting://a?b'],
    ['greeting://{name}', 'hello://a'],
    ['greeting://{name}', 'greeting://%zz'],
    ['greeting://{name}', 'greeting://%ff'],
    ['users://{id}/profile', 'users:///profile'],
    ['users://{id}/profile', 'users://1/profile/x'],
    ['search{?q}', 'search?other=1'],
    ['search{?q}', 'search?q=1&q=2'],
    ['{x,y}', '1,2,3'],
    ['a://{x}/{x}', 'a://1/2'],
    ['{code:2}/x', 'deu/x'],
    ['schema://main', 'schema://main/'],
    ['schema://main', 'Schema://main'],
  ])('does not read %s from %s', (template, uri) => {
    expect(UriTemplate.parse(template).match(uri)).toBeUndefined();
  });

  it('gives values without a prototype', () => {
    const found = UriTemplate.parse('a://{__proto__}/{constructor}').match('a://x/y');
    expect(Object.getPrototypeOf(found)).toBeNull();
    expect(Object.entries(found ?? {})).toEqual([
      ['__proto__', 'x'],
      ['constructor', 'y'],
    ]);
  });

  it('reads back what it wrote', () => {
    const value = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 }).filter((text) => !/\p{Surrogate}/u.test(text));
    const template = UriTemplate.parse('a://{one}/{two}/x{/rest*}{?q,list*}');
    fc.assert(
      fc.property(
        value,
        value,
        fc.array(value, { minLength: 1, maxLength: 3 }),
        value,
        fc.array(value, { minLength: 1, maxLength: 3 }),
        (one, two, rest, q, list) => {
          expect({ ...template.match(template.expand({ one, two, rest, q, list })) }).toEqual({ one, two, rest, q, list });
        },
      ),
    );
  });

  it('rule 6: takes time linear in the URI, whatever the template', () => {
    const hard = ['{a}'.repeat(60) + '!', '{+a}{+b}{+c}{+d}{+e}{+f}!', '{a}a'.repeat(60), '{/a*}{/b*}{/c*}!'].map((template) =>
      UriTemplate.parse(template.replaceAll('{a}', '{v}')),
    );
    const uri = 'a'.repeat(8000);
    const cpuMs = countCpuMs();
    for (const template of hard) expect(template.match(uri)).toBeUndefined();
    expect(cpuMs()).toBeLessThan(2000);
    expect(UriTemplate.parse('{+a}').match('a'.repeat(8193))).toBeUndefined();
  });

  it('never throws, whatever it is asked', () => {
    const templates = ['a://{b}', '{+a}{?q*}', '{/p*}{#f}', '{;x,y}{&z}'].map((template) => UriTemplate.parse(template));
    fc.assert(
      fc.property(fc.array(fc.nat(0xffff)), (codes) => {
        const uri = String.fromCharCode(...codes);
        for (const template of templates) template.match(uri);
      }),
    );
  });
});
