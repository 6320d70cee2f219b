import { createHost, type Host, type HostOptions } from '@mortise/host';

/** Makes a host that asks before each call of a tool. */
export function connect(servers: HostOptions['servers'], isAllowed: (question: string) => Promise<boolean>): Host {
  return createHost({
    servers,
    policy: ({ name, arguments: args }) => isAllowed(`Call ${name} with ${JSON.stringify(args)}?`),
  });
}
