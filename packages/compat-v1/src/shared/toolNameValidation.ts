/** `/shared/toolNameValidation`: says what is wrong with a tool's name. */

const MAX_LENGTH = 128;

/** Returns whether a name keeps the rules, and what may cause trouble with it. */
export function validateToolName(name: string): { isValid: boolean; warnings: string[] } {
  if (name === '') return { isValid: false, warnings: ['Tool name cannot be empty'] };
  if (name.length > MAX_LENGTH) {
    return { isValid: false, warnings: [`Tool name exceeds maximum length of ${MAX_LENGTH} characters (current: ${name.length})`] };
  }
  const warnings: string[] = [];
  const trouble = 'which may cause parsing issues';
  if (name.includes(' ')) warnings.push(`Tool name contains spaces, ${trouble}`);
  if (name.includes(',')) warnings.push(`Tool name contains commas, ${trouble}`);
  if (/^-|-$/u.test(name)) warnings.push(`Tool name starts or ends with a dash, ${trouble} in some contexts`);
  if (/^\.|\.$/u.test(name)) warnings.push(`Tool name starts or ends with a dot, ${trouble} in some contexts`);
  const wrong = [...new Set(name.replace(/[A-Za-z0-9._-]/gu, ''))];
  if (wrong.length > 0) {
    warnings.push(
      `Tool name contains invalid characters: ${wrong.map((each) => `"${each}"`).join(', ')}`,
      'Allowed characters are: A-Z, a-z, 0-9, underscore (_), dash (-), and dot (.)',
    );
  }
  return { isValid: wrong.length === 0, warnings };
}

/** Writes the warnings about a name to the console. */
export function issueToolNameWarning(name: string, warnings: readonly string[]): void {
  if (warnings.length === 0) return;
  console.warn(`Tool name validation warning for "${name}":`);
  for (const warning of warnings) console.warn(`  - ${warning}`);
  console.warn('Tool registration will proceed, but this may cause compatibility issues.');
  console.warn('Consider updating the tool name to conform to the MCP tool naming standard.');
  console.warn('See SEP: Specify Format for Tool Names (SEP-986 of the Model Context Protocol) for more details.');
}

/** Does both. @returns Whether the name keeps the rules. */
export function validateAndWarnToolName(name: string): boolean {
  const { isValid, warnings } = validateToolName(name);
  issueToolNameWarning(name, warnings);
  return isValid;
}
