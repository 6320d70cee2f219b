/**
 * Who may import whom (DESIGN section 2, STYLE section 1). Each rule's comment says why; `scripts/test/import-graph.test.ts`
 * draws every forbidden arrow once and expects the rule's name.
 */

const src = (...names) => `^packages/(?:${names.join('|')})/src/`;
const folder = (...names) => `^packages/(?:${names.join('|')})/`;

const ends = ['server', 'client'];
const transports = ['transport-stdio', 'transport-http', 'transport-ws-custom'];
const parts = ['tasks', 'auth-oauth', 'auth-proxy', 'store-[^/]+'];
const anyPackageOutside = (...names) => `^packages/(?!(?:${names.join('|')})/)`;
const fromNpm = {
  dependencyTypes: ['npm', 'npm-dev', 'npm-optional', 'npm-peer', 'npm-bundled', 'npm-no-pkg', 'npm-unknown'],
  pathNot: '^packages/',
};
const nodeBuiltIns =
  '^(?:node:)?(?:assert|async_hooks|buffer|child_process|cluster|crypto|dgram|diagnostics_channel|dns|events|fs|http|http2|https|inspector|module|net|os|path|perf_hooks|process|punycode|querystring|readline|repl|sea|sqlite|stream|string_decoder|test|timers|tls|tty|url|util|v8|vm|wasi|worker_threads|zlib)(?:/|$)';
const edgeSafeEntries =
  '^packages/(?:(?:jsonrpc-core|protocol)/src/[^/]+|(?:server|client|tasks|auth-oauth|auth-proxy)/src/(?!(?:node|files)\\.ts$)[^/]+|transport-http/src/(?:index|server|client)|transport-ws-custom/src/client)\\.ts$';

/** @type {import('dependency-cruiser').IForbiddenRuleType[]} */
const layers = [
  {
    name: 'core-imports-nothing',
    comment: 'jsonrpc-core is the floor of the house: it imports no package, ours or another.',
    from: { path: src('jsonrpc-core') },
    to: { path: anyPackageOutside('jsonrpc-core') },
  },
  {
    name: 'core-has-no-dependency',
    comment: 'jsonrpc-core has no dependency from npm.',
    from: { path: src('jsonrpc-core') },
    to: fromNpm,
  },
  {
    name: 'protocol-imports-only-core',
    comment: 'protocol is vocabulary: of our packages it imports jsonrpc-core alone.',
    from: { path: src('protocol') },
    to: { path: anyPackageOutside('protocol', 'jsonrpc-core') },
  },
  {
    name: 'protocol-needs-two-packages',
    comment: 'From npm protocol takes zod and the API of OpenTelemetry, optional peers.',
    from: { path: src('protocol') },
    to: { ...fromNpm, pathNot: '^packages/|(?:^|/)node_modules/(?:zod|@opentelemetry/api)/' },
  },
  {
    name: 'opentelemetry-only-at-its-entry',
    comment: 'The API of OpenTelemetry is reached from @mortise/protocol/opentelemetry alone, so that a program without it loads all else.',
    from: { path: '^packages/[^/]+/src/', pathNot: '^packages/protocol/src/opentelemetry(?:\\.ts$|/)' },
    to: { path: ['(?:^|/)node_modules/@opentelemetry/', '^@opentelemetry/'] },
  },
  {
    name: 'zod-only-at-schemas',
    comment: 'zod is reached from @mortise/protocol/schemas alone, so that a program without it loads everything else.',
    // A program written for SDK v1 has zod: its API is made of zod schemas.
    from: { path: '^packages/[^/]+/src/', pathNot: '^packages/protocol/src/schemas(?:\\.ts$|/)|^packages/compat-v1/' },
    to: { path: ['(?:^|/)node_modules/zod/', '^zod(?:/|$)'] },
  },
  {
    name: 'schemas-stay-behind-their-entry',
    comment: 'The zod twins of the model hang from @mortise/protocol/schemas; no other file of protocol may pull them in.',
    from: { path: src('protocol'), pathNot: '^packages/protocol/src/schemas(?:\\.ts$|/)' },
    to: { path: '^packages/protocol/src/schemas(?:\\.ts$|/)' },
  },
  {
    name: 'packages-do-not-load-the-schemas',
    comment: 'At run time the packages know schemas by ~standard; @mortise/protocol/schemas is for gateways and tests.',
    from: { path: '^packages/(?!(?:protocol|compat-v1)/)[^/]+/src/' },
    to: { path: '^packages/protocol/src/schemas(?:\\.ts$|/)' },
  },
  {
    name: 'contracts-are-type-only',
    comment: 'A contract imports types only, so that a store that implements it loads nothing.',
    from: { path: '^packages/protocol/src/contracts(?:\\.ts$|/)' },
    to: { dependencyTypesNot: ['type-only'], pathNot: '^packages/protocol/src/contracts/', couldNotResolve: false },
  },
  {
    name: 'server-not-to-client',
    comment: 'server and client meet on the wire, never in an import.',
    from: { path: src('server') },
    to: { path: folder('client') },
  },
  {
    name: 'client-not-to-server',
    comment: 'client and server meet on the wire, never in an import.',
    from: { path: src('client') },
    to: { path: folder('server') },
  },
  {
    name: 'ends-not-to-transport',
    comment: 'server and client know transports by interface; the program picks one.',
    from: { path: src(...ends) },
    to: { path: folder(...transports) },
  },
  {
    name: 'ends-not-to-parts',
    comment: 'server and client know tasks, authorization and stores by interface; the program plugs them in.',
    from: { path: src(...ends) },
    to: { path: folder(...parts) },
  },
  {
    name: 'transport-not-to-ends',
    comment: 'A transport moves messages for anyone; it knows no server and no client.',
    from: { path: src(...transports) },
    to: { path: folder(...ends) },
  },
  {
    name: 'transport-not-to-transport',
    comment: 'A transport stands alone, so that a program installs only the one it needs.',
    from: { path: '^packages/(transport-[^/]+)/src/' },
    to: { path: folder(...transports), pathNot: '^packages/$1/' },
  },
  {
    name: 'transport-not-to-parts',
    comment: 'A transport reaches tasks, authorization and stores through the contracts of protocol.',
    from: { path: src(...transports) },
    to: { path: folder(...parts) },
  },
  {
    name: 'stdio-and-ws-take-types-or-edge',
    comment: 'stdio and ws take types of protocol, and values from @mortise/protocol/edge alone.',
    from: { path: src('transport-stdio', 'transport-ws-custom') },
    to: { path: '^packages/protocol/src/', pathNot: '^packages/protocol/src/edge\\.ts$', dependencyTypesNot: ['type-only'] },
  },
  {
    name: 'part-not-to-ends',
    comment: 'tasks, authorization and stores plug into server and client through contracts.',
    from: { path: src(...parts) },
    to: { path: folder(...ends) },
  },
  {
    name: 'part-not-to-transport',
    comment: 'tasks, authorization and stores work over any transport and so import none.',
    from: { path: src(...parts) },
    to: { path: folder(...transports) },
  },
  {
    name: 'part-not-to-part',
    comment: 'No part imports another part: each is replaced alone.',
    from: { path: '^packages/(tasks|auth-oauth|auth-proxy|store-[^/]+)/src/' },
    to: { path: folder(...parts), pathNot: '^packages/$1/' },
  },
  {
    name: 'host-is-above-the-others',
    comment: 'A host wires clients, servers and transports together; of our packages only the command line may build on it.',
    from: { path: '^packages/(?!host/|cli/)[^/]+/src/' },
    to: { path: folder('host') },
  },
  {
    name: 'host-not-to-parts',
    comment: 'A host knows tasks, authorization and stores by interface; the program plugs them in.',
    from: { path: src('host') },
    to: { path: folder(...parts) },
  },
  {
    name: 'model-libraries-only-at-their-entries',
    comment: 'A library of models is reached from the entry that adapts to it, so that a host without it loads all else.',
    from: { path: src('host'), pathNot: '^packages/host/src/(?:ai-sdk|langchain)\\.ts$' },
    to: { path: ['(?:^|/)node_modules/(?:ai|@langchain)/', '^(?:ai|@langchain)(?:/|$)'] },
  },
  {
    name: 'openapi-builds-on-server',
    comment: 'openapi makes a server: of our packages it needs server, protocol and jsonrpc-core.',
    from: { path: src('openapi') },
    to: { path: anyPackageOutside('openapi', 'server', 'protocol', 'jsonrpc-core') },
  },
  {
    name: 'inspector-is-above-the-client',
    comment: 'The inspector builds on the client, transports, tasks and authorization; of our packages only the command line imports it.',
    from: { path: '^packages/(?!inspector/|cli/)[^/]+/src/' },
    to: { path: folder('inspector') },
  },
  {
    name: 'testkit-only-in-tests',
    comment: 'The testkit is a development dependency: what is published never loads it.',
    from: { path: '^packages/(?!transport-testkit/)[^/]+/src/' },
    to: { path: folder('transport-testkit') },
  },
  {
    name: 'testkit-imports-only-contracts',
    comment: 'The testkit proves implementations of any maker: it imports jsonrpc-core, and types of the contracts.',
    from: { path: src('transport-testkit') },
    to: { path: anyPackageOutside('transport-testkit', 'jsonrpc-core'), dependencyTypesNot: ['type-only'] },
  },
  {
    name: 'core-and-protocol-not-to-testkit',
    comment: 'The testkit builds on jsonrpc-core and protocol; their tests may not lean on it (a cycle for the build).',
    from: { path: folder('jsonrpc-core', 'protocol') },
    to: { path: folder('transport-testkit') },
  },
  {
    name: 'nothing-imports-compat',
    comment: 'compat-v1 stands above server, client, transports and authorization, whose public entries it imports; no package imports it.',
    from: { path: '^packages/(?!compat-v1/)[^/]+/' },
    to: { path: folder('compat-v1') },
  },
  {
    name: 'nothing-imports-an-app',
    comment: 'Apps wire packages together; nothing depends on an app.',
    from: { path: '^(?:packages|benchmarks|scripts|tools)/' },
    to: { path: '^apps/' },
  },
  {
    name: 'app-not-to-app',
    comment: 'An app is one idea that stands alone.',
    from: { path: '^apps/([^/]+)/' },
    to: { path: '^apps/', pathNot: '^apps/$1/' },
  },
];

/** @type {import('dependency-cruiser').IForbiddenRuleType[]} */
const hygiene = [
  {
    name: 'no-reaching-into-packages',
    comment: "A package is imported by its public name, never by a path into another package's folder.",
    from: { path: '^(packages/[^/]+|apps/[^/]+|benchmarks)/' },
    to: { path: '^packages/[^/]+/', pathNot: '^$1/', dependencyTypes: ['local'] },
  },
  {
    name: 'no-node-in-edge-safe-entries',
    comment: 'These entries run in browsers and on edge runtimes: no path from them leads to a Node built-in.',
    from: { path: edgeSafeEntries },
    to: { path: nodeBuiltIns, reachable: true },
  },
  {
    name: 'no-cycle',
    comment: 'A cycle of imports makes the order of loading matter.',
    from: {},
    to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
  },
  {
    name: 'no-undeclared-dependency',
    comment: "What a package imports stands in that package's own package.json.",
    from: { path: '^(?:(?:packages|apps)/[^/]+/src|benchmarks)/' },
    // An optional peer counts as npm-no-pkg too: the tool takes `peerDependenciesMeta` for one more list.
    to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown'], dependencyTypesNot: ['npm', 'npm-dev', 'npm-peer', 'npm-optional'] },
  },
  {
    name: 'no-dev-dependency-in-src',
    comment: 'What is published may not import what is installed for development only.',
    // The inspector's page is bundled with all that it imports.
    from: { path: '^packages/[^/]+/src/', pathNot: '^packages/inspector/src/page/' },
    to: {
      dependencyTypes: ['npm-dev'],
      dependencyTypesNot: ['type-only', 'npm-peer'],
    },
  },
  {
    name: 'no-unresolvable',
    comment: 'An import that leads nowhere, or past the entry points that a package lists.',
    from: { path: '^(?:packages|apps|benchmarks|scripts)/' },
    to: { couldNotResolve: true },
  },
];

export default {
  forbidden: [...layers, ...hygiene].map((rule) => ({ severity: 'error', ...rule })),
  options: {
    doNotFollow: { path: ['node_modules', '/dist/'] },
    exclude: { path: ['/dist/', '/fixtures/', '^\\.cache/'] },
    tsPreCompilationDeps: true,
    combinedDependencies: false,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['mortise-source', 'import', 'node', 'default'],
      mainFields: ['module', 'main', 'types'],
      extensions: ['.ts', '.mts', '.js', '.mjs', '.json'],
    },
  },
};
