/** A transport that is a factory of further ones, too: how a program names a server once. */

import type { Transport, TransportFactory } from './transport.ts';

/**
 * Makes `factory` a transport that passes everything to `own`.
 *
 * Methods can be assigned to, as those of an object can: other SDKs' clients put their own in front of them for a while.
 *
 * @param members What it has beside the members of `Transport`; accessors stay accessors.
 */
export function createCallableTransport<More extends object>(
  own: Transport,
  factory: TransportFactory,
  members: More,
): Transport & TransportFactory & More {
  const shell = () => factory();
  Object.defineProperties(shell, {
    start: toMethod(() => own.start()),
    send: toMethod(own.send.bind(own)),
    close: toMethod(() => own.close()),
    onmessage: toAccessor(own, 'onmessage'),
    onerror: toAccessor(own, 'onerror'),
    onclose: toAccessor(own, 'onclose'),
    sessionId: { get: () => own.sessionId, configurable: true, enumerable: true },
    setProtocolVersion: toMethod(own.setProtocolVersion?.bind(own)),
    ...Object.getOwnPropertyDescriptors(members),
  });
  return shell as unknown as Transport & TransportFactory & More;
}

function toMethod(value: unknown): PropertyDescriptor {
  return { value, writable: true, configurable: true, enumerable: true };
}

function toAccessor<K extends 'onmessage' | 'onerror' | 'onclose'>(own: Transport, key: K): PropertyDescriptor {
  return {
    get: () => own[key],
    set: (value: Transport[K]) => {
      own[key] = value;
    },
    configurable: true,
    enumerable: true,
  };
}
