/** The checks of the keyword `format`, by format name. Each takes time linear in the length of the string. */

import { compiles } from './check-json-schema.ts';

type Format = (text: string) => boolean;

const matches =
  (pattern: RegExp): Format =>
  (text) =>
    pattern.test(text);

const isDate: Format = (text) => {
  const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text)?.map(Number) ?? [];
  if (year === undefined || month === undefined || day === undefined) return false;
  const isLeapYear = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const days = month === 2 ? (isLeapYear ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31;
  return month >= 1 && month <= 12 && day >= 1 && day <= days;
};

/** Tells whether a text is a time. Second 60 (a leap second) is valid only as the last second of a UTC day. */
const isTime: Format = (text) => {
  const parts = /^(\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:z|([+-])(\d\d):(\d\d))$/i.exec(text);
  if (parts === null) return false;
  const [hour = 0, minute = 0, second = 0, , offsetHour = 0, offsetMinute = 0] = parts.slice(1).map((part) => Number(part ?? 0));
  if (hour > 23 || minute > 59 || second > 60 || offsetHour > 23 || offsetMinute > 59) return false;
  const offset = (offsetHour * 60 + offsetMinute) * (parts[4] === '-' ? -1 : 1);
  return second < 60 || (hour * 60 + minute - offset + 1440) % 1440 === 1439;
};

const isDateTime: Format = (text) => /^.{10}t/i.test(text) && isDate(text.slice(0, 10)) && isTime(text.slice(11));

const isHostname = matches(/^(?=.{1,253}$)[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?(?:\.[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?)*$/i);
const isIpv4 = matches(/^(?:(?:25[0-5]|2[0-4]\d|1?\d\d|\d)(?:\.(?!$)|$)){4}$/);
const isIpv6: Format = (text) => /^[\da-f:.]{2,45}$/i.test(text) && URL.canParse(`http://[${text}]/`);

const isEmail: Format = (text) => {
  const [, name, host = ''] =
    /^("(?:[^"\\\x00-\x1f]|\\[\x20-\x7e])*"|[a-z\d!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z\d!#$%&'*+/=?^_`{|}~-]+)*)@([^@]+)$/i.exec(text) ?? [];
  const literal = /^\[(ipv6:)?(.*)\]$/i.exec(host);
  if (name === undefined || name.length > 64) return false;
  return literal === null ? isHostname(host) : (literal[1] === undefined ? isIpv4 : isIpv6)(literal[2] ?? '');
};

/** A URI or relative reference (RFC 3986): scheme, authority (an IP literal or a name), path, query and fragment. */
const URI =
  /^([a-z][a-z\d+.-]*:|(?![^/?#]*:))(?:\/\/(?:(?:[\w.~!$&'()*+,;=:-]|%[\da-f]{2})*@)?(?:\[([\da-f:.]+)\]|\[v[\da-f]+\.[\w.~!$&'()*+,;=:-]+\]|(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})*)(?::\d*)?(?=[/?#]|$)|(?!\/\/))(?:[\w.~!$&'()*+,;=:@/-]|%[\da-f]{2})*(?:\?(?:[\w.~!$&'()*+,;=:@/?-]|%[\da-f]{2})*)?(?:#(?:[\w.~!$&'()*+,;=:@/?-]|%[\da-f]{2})*)?$/i;

function isUri(text: string, mayBeRelative: boolean): boolean {
  const found = URI.exec(text);
  if (found === null || (found[1] === '' && !mayBeRelative)) return false;
  return found[2] === undefined || isIpv6(found[2]);
}

const VARIABLE = /(?:\w|%[\da-f]{2})+(?:\.(?:\w|%[\da-f]{2})+)*(?:\*|:[1-9]\d{0,3})?/.source;

export const FORMATS: ReadonlyMap<string, Format> = /* @__PURE__ */ new Map<string, Format>([
  ['date', isDate],
  ['time', isTime],
  ['date-time', isDateTime],
  ['duration', matches(/^P(?!$)(?:\d+W|(?:\d+Y(?!\d+D))?(?:\d+M)?(?:\d+D)?(?:T(?=\d)(?:\d+H(?!\d+S))?(?:\d+M)?(?:\d+S)?)?)$/)],
  ['email', isEmail],
  ['hostname', isHostname],
  ['ipv4', isIpv4],
  ['ipv6', isIpv6],
  ['uri', (text) => isUri(text, false)],
  ['uri-reference', (text) => isUri(text, true)],
  [
    'uri-template',
    matches(new RegExp(`^(?:[^\\x00-\\x20\\x7f"<>%\\\\^\`{|}]|%[\\da-f]{2}|\\{[+#./;?&=,!@|]?${VARIABLE}(?:,${VARIABLE})*\\})*$`, 'i')),
  ],
  ['uuid', matches(/^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/i)],
  ['regex', (text) => compiles(text, 'u')],
  ['json-pointer', matches(/^(?:\/(?:[^~/]|~[01])*)*$/)],
  ['relative-json-pointer', matches(/^(?:0|[1-9]\d*)(?:#|(?:\/(?:[^~/]|~[01])*)*)$/)],
]);
