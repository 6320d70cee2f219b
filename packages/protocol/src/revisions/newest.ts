/** The newest revision. A later one is a folder beside this file that comes after it, and a change of this line. */
export { revision as newest } from './2026-07-28/index.ts';
