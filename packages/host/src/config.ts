/** `@mortise/host/config`: the servers of a configuration file as desktop hosts use it (`mcpServers`, or `servers` and `inputs`). */

export { type ConfigOptions, type LoadedConfig, parseConfig, readConfigFile } from './config/read-config.ts';
export type { ConfigProblem } from './config/json-tree.ts';
export type { ConfigInput } from './config/variables.ts';
