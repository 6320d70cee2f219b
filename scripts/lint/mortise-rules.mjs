/**
 * Lint rules of this repository that no linter ships: an oxlint plugin (ESLint's rule shape). Which files each rule applies
 * to is set in `.oxlintrc.json`.
 */

const dateText = /20\d\d-\d\d-\d\d/;
const comparisons = new Set(['==', '===', '!=', '!==', '<', '<=', '>', '>=']);
const comparingMethods = new Set(['startsWith', 'endsWith', 'localeCompare', 'includes', 'match']);
const vagueNames = new Set(['utils', 'util', 'helpers', 'helper', 'common', 'shared', 'misc', 'manager']);

/** `revision.version`, `this.revision.version`, `serverRevision.version`, with or without `?.`. */
function isRevisionVersion(node) {
  const member = node?.type === 'ChainExpression' ? node.expression : node;
  if (member?.type !== 'MemberExpression' || member.computed || member.property.name !== 'version') return false;
  const owner = member.object;
  const name = owner.type === 'Identifier' ? owner.name : owner.type === 'MemberExpression' ? owner.property.name : undefined;
  return typeof name === 'string' && /revision$/i.test(name);
}

const noDateLiteral = {
  create(context) {
    const check = (node, text) => {
      const [date] = dateText.exec(text) ?? [];
      const message = `The date "${date}" stands outside packages/protocol/src/revisions/. Ask a Revision for the fact by name (DESIGN D2).`;
      if (date !== undefined) context.report({ node, message });
    };
    return {
      Literal: (node) => check(node, typeof node.value === 'string' ? node.value : ''),
      TemplateElement: (node) => check(node, node.value.raw),
    };
  },
};

const noVersionComparison = {
  create(context) {
    const report = (node) =>
      context.report({
        node,
        message: 'revision.version is compared. Put the difference into the Revision as a fact and ask for it by name (DESIGN D2).',
      });
    return {
      BinaryExpression(node) {
        if (comparisons.has(node.operator) && (isRevisionVersion(node.left) || isRevisionVersion(node.right))) report(node);
      },
      SwitchStatement(node) {
        if (isRevisionVersion(node.discriminant)) report(node);
      },
      CallExpression(node) {
        const callee = node.callee;
        if (callee.type !== 'MemberExpression' || !comparingMethods.has(callee.property.name)) return;
        if (isRevisionVersion(callee.object)) report(node);
      },
    };
  },
};

const noVagueFileName = {
  create: (context) => ({
    Program(node) {
      for (const part of context.filename.split(/[\\/]/).slice(-3)) {
        const name = part.replace(/\.[a-z.]+$/, '');
        if (vagueNames.has(name)) context.report({ node, message: `"${part}" says nothing. Name the file after its one main export.` });
      }
    },
  }),
};

const noStarExport = {
  create: (context) => ({
    ExportAllDeclaration: (node) => context.report({ node, message: 'export * hides what a module offers. List the names one by one.' }),
  }),
};

const plugin = {
  meta: { name: 'mortise' },
  rules: {
    'no-date-literal': noDateLiteral,
    'no-version-comparison': noVersionComparison,
    'no-vague-file-name': noVagueFileName,
    'no-star-export': noStarExport,
  },
};

export default plugin;
