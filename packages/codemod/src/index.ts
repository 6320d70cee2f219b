/** `@mortise/codemod`: moves a program from the official SDK to Mortise. `npx @mortise/codemod` is the command. */

export { type Left, migrate, type MigrateOptions, type Migration } from './migrate.ts';
export type { Finding } from './mapping.ts';
