/** What is needed once a value does not fit its schema, loaded then. */

export { describeIssues } from './describe-issues.ts';
export { phraseIssue } from './phrase-issue.ts';
