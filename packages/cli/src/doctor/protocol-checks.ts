/** Checks of messages, of the opening of both eras, and of paging. */

import { INVALID_PARAMS, isJsonObject, METHOD_NOT_FOUND } from '@mortise/jsonrpc-core/messages';
import { UNSUPPORTED_PROTOCOL_VERSION } from '@mortise/protocol/wire';
import type { Check } from './check.ts';
import { expectError, listFaults, resultOf } from './check.ts';
import { toInitialize } from './dialogue.ts';

/** Lists, the capability that each needs, and the member of the result that has the items. */
const LISTS = [
  ['tools/list', 'tools', 'tools'],
  ['resources/list', 'resources', 'resources'],
  ['resources/templates/list', 'resources', 'resourceTemplates'],
  ['prompts/list', 'prompts', 'prompts'],
] as const;

export const PROTOCOL_CHECKS: readonly Check[] = [
  {
    row: 'LIFE-002',
    era: 'legacy',
    rule: 'initialize is answered with protocolVersion, capabilities and serverInfo with name and version',
    remedy: 'add the missing members to the result of initialize',
    run: ({ opening: { protocolVersion, capabilities, serverInfo } }) => {
      const { name, version } = Object(serverInfo) as Record<string, unknown>;
      const missing = Object.entries({ protocolVersion, 'serverInfo.name': name, 'serverInfo.version': version })
        .filter(([, value]) => typeof value !== 'string')
        .map(([key]) => key);
      return listFaults([...missing, ...(isJsonObject(capabilities) ? [] : ['capabilities'])].map((key) => `${key} is missing`));
    },
  },
  {
    row: 'LIFE-008',
    era: 'legacy',
    isFirst: true,
    rule: 'initialize with an unknown version is answered with a version that the server speaks',
    remedy: 'answer initialize with your newest version in place of an error; the client decides whether to go on',
    run: async (dialogue) => {
      const reply = await dialogue.ask('initialize', toInitialize('1999-01-01'));
      const { protocolVersion } = resultOf(reply);
      if (protocolVersion === '1999-01-01') return 'it agreed to version 1999-01-01, which does not exist';
      return typeof protocolVersion === 'string' ? undefined : 'it answered without a version';
    },
  },
  {
    row: 'PING-001',
    era: 'legacy',
    rule: 'ping is answered with an empty result',
    remedy: 'answer ping with {}',
    run: async (dialogue) => {
      const { message } = await dialogue.ask('ping');
      return isJsonObject(message?.['result']) ? undefined : 'ping was not answered with a result';
    },
  },
  {
    row: 'VERS-008',
    era: 'modern',
    rule: 'server/discover gives supportedVersions, capabilities, ttlMs and cacheScope',
    remedy: 'add the missing members to the result of server/discover',
    run: ({ opening }) => {
      const kinds = { supportedVersions: Array.isArray(opening['supportedVersions']), capabilities: isJsonObject(opening['capabilities']) };
      const rest = { ttlMs: Number.isInteger(opening['ttlMs']), cacheScope: ['public', 'private'].includes(String(opening['cacheScope'])) };
      const wrong = Object.entries({ ...kinds, ...rest }).filter(([, isRight]) => !isRight);
      return listFaults(wrong.map(([key]) => `${key} is missing or has the wrong type`));
    },
  },
  {
    row: 'VERS-003',
    era: 'modern',
    rule: 'a request of an unknown version is refused with -32022 and data.supported',
    remedy: 'answer -32022 with data.supported, the list of versions that you speak',
    run: async (dialogue) => {
      const params = dialogue.withMeta({}, '2999-01-01');
      const reply = await dialogue.wire.send({ jsonrpc: '2.0', id: 'version', method: 'server/discover', params });
      const fault = expectError(reply, UNSUPPORTED_PROTOCOL_VERSION);
      const { data } = Object(reply.message?.['error']) as { readonly data?: unknown };
      return fault ?? (isJsonObject(data) && Array.isArray(data['supported']) ? undefined : 'data.supported is missing');
    },
  },
  {
    row: 'BASE-014',
    era: 'modern',
    rule: 'every result has a resultType',
    remedy: 'add resultType: "complete" to every result',
    run: async (dialogue) => {
      const replies = await Promise.all(
        LISTS.filter(([, capability]) => capability in dialogue.capabilities).map(
          async ([method]) => [method, await dialogue.ask(method)] as const,
        ),
      );
      const results = [
        ['server/discover', dialogue.opening] as const,
        ...replies.map(([method, reply]) => [method, resultOf(reply)] as const),
      ];
      const without = results.filter(([, result]) => typeof result['resultType'] !== 'string');
      return listFaults(without.map(([method]) => `the result of ${method} has none`));
    },
  },
  {
    row: 'BASE-004',
    rule: 'an answer has the id of its request, of the same type',
    remedy: 'send the id back unchanged: "1" differs from 1',
    run: async (dialogue) => {
      const method = dialogue.era === 'modern' ? 'server/discover' : 'ping';
      for (const id of ['7', 7, 'a-é-☃']) {
        const { message } = await dialogue.ask(method, {}, id);
        if (message?.['id'] !== id) return `a request with id ${JSON.stringify(id)} got no answer with that id`;
      }
      return undefined;
    },
  },
  {
    row: 'ERR-001',
    rule: 'an unknown method is refused with -32601',
    remedy: 'answer -32601 for every method that you do not know',
    run: async (dialogue) => expectError(await dialogue.ask('mortise/no-such-method'), METHOD_NOT_FOUND),
  },
  {
    row: 'CAP-006',
    isAdvice: true,
    rule: 'a method of a capability that is not declared is refused with -32601',
    remedy: 'declare the capability, or do not serve its methods',
    run: async (dialogue) => {
      const faults: string[] = [];
      for (const [method, capability] of LISTS) {
        if (capability in dialogue.capabilities) continue;
        const fault = expectError(await dialogue.ask(method), METHOD_NOT_FOUND);
        if (fault !== undefined) faults.push(`${method}: ${fault}`);
      }
      return listFaults(faults);
    },
  },
  {
    row: 'PAGE-001',
    rule: 'lists come to an end',
    remedy: 'leave nextCursor out of the last page',
    run: async (dialogue) => {
      const faults: string[] = [];
      for (const [method, capability, member] of LISTS) {
        if (!(capability in dialogue.capabilities) || method === 'resources/templates/list') continue;
        const { fault } = await dialogue.list(method, member);
        if (fault !== undefined) faults.push(fault);
      }
      return listFaults(faults);
    },
  },
  {
    row: 'PAGE-008',
    isAdvice: true,
    needs: 'tools',
    rule: 'an invalid cursor is refused with -32602',
    remedy: 'check the cursor, and answer -32602 for one that you did not make',
    run: async (dialogue) => expectError(await dialogue.ask('tools/list', { cursor: 'mortise-no-such-cursor' }), INVALID_PARAMS),
  },
  {
    row: 'BASE-019',
    rule: 'a notification is not answered',
    remedy: 'never answer a message without id, not even with an error',
    run: async (dialogue) => {
      const before = dialogue.wire.strays.length;
      const params = dialogue.withMeta({});
      const { status = 0, message } = await dialogue.wire.send({ jsonrpc: '2.0', method: 'notifications/mortise-unknown', params });
      // An HTTP error may have a body.
      if (message !== undefined && status < 300) return `it sent ${JSON.stringify(message)}`;
      await dialogue.ask('mortise/no-such-method');
      const [stray] = dialogue.wire.strays.slice(before);
      return stray === undefined ? undefined : `it sent ${stray}`;
    },
  },
];

/** Checked last: what was seen in all other answers. */
export const LAST_CHECKS: readonly Check[] = [
  {
    row: 'BASE-010',
    rule: 'every answer is a JSON-RPC 2.0 response with either a result or an error',
    remedy: 'correct the shape of the answer',
    run: ({ malformed }) => listFaults([...new Set(malformed)]),
  },
];
