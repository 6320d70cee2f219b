/** `@mortise/host/config`: the servers of a configuration file as desktop hosts use it (`mcpServers`, or `servers` and `inputs`). */

export {
  type ConfigInput,
  type ConfigOptions,
  type ConfigProblem,
  type LoadedConfig,
  parseConfig,
  readConfigFile,
} from './config/read-config.ts';
