import { describeIssues } from './describe-issues.ts';

/** Calls `use` with what phrases issues. To be replaced by a plain import of `describeIssues`. */
export function withPhrasing<T>(use: (phrasing: { readonly describeIssues: typeof describeIssues }) => T): T {
  return use({ describeIssues });
}
