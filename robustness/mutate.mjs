// Turns recorded messages into hostile ones. A mutation either stays inside the parameters, so that the message is still valid
// JSON-RPC, or breaks the envelope, the JSON or the bytes.

const oddStrings = ['', ' ', '\u0000', '\u2028', '\ud800', 'é'.repeat(50), '__proto__', 'constructor', '../../etc/passwd', '%00', '{a}', 'x'.repeat(5000), '😀'];
const oddNumbers = [0, -0, -1, 1.5, 1e308, -1e308, 2 ** 53, -(2 ** 53), 4294967296];

function oddValue(random, depth = 0) {
  const kinds = [
    () => random.pick(oddStrings),
    () => random.pick(oddNumbers),
    () => null,
    () => random.chance(0.5),
    () => (depth > 3 ? [] : Array.from({ length: random.below(4) }, () => oddValue(random, depth + 1))),
    () => (depth > 3 ? {} : Object.fromEntries(Array.from({ length: random.below(4) }, () => [random.pick(oddStrings), oddValue(random, depth + 1)]))),
  ];
  return random.pick(kinds)();
}

function deepArray(levels) {
  return `${'['.repeat(levels)}${']'.repeat(levels)}`;
}

/** Every object and array below a value, with their parents' keys. */
function places(value, found = []) {
  if (typeof value === 'object' && value !== null) {
    found.push(value);
    for (const inner of Object.values(value)) places(inner, found);
  }
  return found;
}

function mutateInside(random, root) {
  const place = random.pick(places(root));
  const keys = Object.keys(place);
  const key = keys.length > 0 ? random.pick(keys) : 'extra';
  const actions = [
    () => void (place[key] = oddValue(random)),
    () => (Array.isArray(place) ? void place.pop() : void delete place[key]),
    () => void (Array.isArray(place) ? place.push(oddValue(random)) : (place[random.pick(oddStrings)] = oddValue(random))),
    () => {
      if (Array.isArray(place)) return;
      place[key.toUpperCase()] = place[key];
    },
  ];
  random.pick(actions)();
}

const methods = ['initialize', 'ping', 'tools/call', 'tools/list', 'nothing/here', '', 'server/discover', 'logging/setLevel', 'tasks/get', 'rpc.discover', '__proto__', 'resources/subscribe'];

/** Envelope mutations: they act on the whole message, whose id may be lost. */
const envelope = [
  (random, message) => ({ ...message, jsonrpc: random.pick(['1.0', 2, null, undefined]) }),
  (random, message) => ({ ...message, id: random.pick([null, 1.5, true, [], {}, undefined]) }),
  (random, message) => ({ ...message, method: random.pick([1, null, undefined, {}, []]) }),
  (random, message) => ({ ...message, params: random.pick([1, 'x', null, [], [message.params], true]) }),
  (random, message) => ({ ...message, result: {}, error: { code: 1, message: 'x' } }),
  (random, message) => ({ ...message, result: oddValue(random) }),
  (random, message) => ({ ...message, error: oddValue(random) }),
  (random, message) => ({ ...message, extra: oddValue(random) }),
  (random, message) => [message],
  () => [],
  (random) => oddValue(random),
];

/** Text mutations: what leaves is no longer JSON, or not what it was. */
const textual = [
  (random, text) => text.slice(0, random.below(text.length)),
  (random, text) => text.slice(0, random.below(text.length)) + random.pick(['\u0000', '}', '{', '"', ',', '\\', '\t']) + text.slice(random.below(text.length)),
  (random, text) => text.replace('{', '{"jsonrpc":"2.0",'),
  (random, text) => text.replace('"method"', '"Method"'),
  () => deepArray(2000),
  () => '{"a":'.repeat(1000) + '1' + '}'.repeat(1000),
  (random) => Array.from({ length: random.below(60) }, () => String.fromCharCode(32 + random.below(90))).join(''),
];

/**
 * Makes one line to send.
 *
 * @returns The text, and the id under which exactly one answer must come (undefined: none is owed).
 */
export function makeLine(random, recorded, id) {
  const message = structuredClone(recorded);
  if (message.id !== undefined) message.id = id;
  const dice = random.next();
  if (dice < 0.62) {
    // Valid JSON-RPC: as it was recorded, with another method, or with something odd inside the parameters.
    if (dice > 0.2 && message.params) for (let times = 1 + random.below(3); times > 0; times--) mutateInside(random, message.params);
    if (random.chance(0.05)) message.method = random.pick(methods);
    return describe(JSON.stringify(message), true);
  }
  if (dice < 0.82) return describe(JSON.stringify(random.pick(envelope)(random, message)) ?? 'null', false);
  return describe(random.pick(textual)(random, JSON.stringify(message)).replaceAll('\n', ' '), false);
}

const has = (object, key) => Object.hasOwn(object, key);

/** What a line is: whether it is valid JSON-RPC, and the ids of the answers that it is owed. */
function describe(text, isIntendedValid) {
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    return { text, isValid: false, value: undefined };
  }
  return { text, isValid: isIntendedValid && typeof value === 'object' && value !== null && has(value, 'method'), value };
}
