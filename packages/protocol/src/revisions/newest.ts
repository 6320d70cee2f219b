/** The newest revision. To add a later one, add a folder beside this file and change this line. */
export { revision as newest } from './2026-07-28/index.ts';
