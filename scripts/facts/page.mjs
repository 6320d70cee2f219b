/** The table and the charts of docs/why.md, from what was measured. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../run-command.mjs';
import { isLegacy, revisions } from './measure.mjs';

const markers = ['<!-- facts: written by `npm run facts`, from facts.json -->', '<!-- end of facts -->'];
const notMeasured = 'not measured';

/**
 * A row of the table.
 *
 * @typedef {object} Row
 * @property {string} id What `npm run facts -- --only` takes.
 * @property {string} title
 * @property {(value: never, ours: never) => string} show A cell, from the library's value and from that of Mortise.
 */

const list = (values) => (values.length === 0 ? 'none' : values.join(', '));
const noStdio = (value, show) => (value === null ? 'no stdio' : show(value));
/** A figure, and how it compares with Mortise's. */
const beside = (value, ours, unit, digits = 0) => {
  const figure = `${value.toFixed(digits)} ${unit}`;
  return ours === undefined || ours === null || ours === value
    ? figure
    : `${figure} (${(value / ours).toFixed(value / ours < 10 ? 1 : 0)} x)`;
};
/** Which revisions are served, or of four the one that is not. */
const showRevisions = (served) => {
  const missing = revisions.filter((revision) => !served.includes(revision));
  if (missing.length === 0) return `all ${served.length}`;
  return missing.length === 1 ? `${served.length}, not ${missing[0]}` : list(served);
};

/** What a store of tasks may keep them in, as the names of such classes and functions say: createPostgresStores. */
const engines = ['memory', 'SQLite', 'Redis', 'PostgreSQL'];

/** @type {readonly Row[]} */
const rows = [
  { id: 'served', title: 'Revisions over stdio', show: ({ stdio }) => noStdio(stdio, showRevisions) },
  { id: 'served', title: 'Revisions over HTTP', show: ({ http }) => showRevisions(http) },
  {
    id: 'served',
    title: 'Both eras from one process',
    show: ({ http }) => (http.some(isLegacy) && !http.every(isLegacy) ? 'yes' : 'no'),
  },
  {
    id: 'stdioCpu',
    title: 'Server CPU for a `tools/call`, stdio',
    show: (value, ours) => noStdio(value, (one) => beside(one, ours, 'us')),
  },
  { id: 'httpCpu', title: 'Server CPU for a `tools/call`, HTTP', show: (value, ours) => beside(value, ours, 'us') },
  {
    id: 'coldStart',
    title: 'Start of the process to the first `tools/list`',
    show: (value, ours) => noStdio(value, (one) => beside(one, ours, 'ms')),
  },
  { id: 'installed', title: 'Packages that an installation brings', show: ({ packages }) => String(packages) },
  { id: 'installed', title: 'Size of the installation', show: ({ mib }, ours) => beside(mib, ours?.mib, 'MiB', 1) },
  {
    id: 'bundleKib',
    title: 'Bundle of the one-tool server with zod, after gzip',
    show: (value, ours) => beside(value, ours, 'KiB'),
  },
  {
    id: 'tasks',
    title: 'Tasks that are published',
    show: ({ core, extension, stores }) =>
      stores.length === 0 && (core || extension)
        ? 'names on the wire only, no store'
        : list([...(core ? ['2025-11-25'] : []), ...(extension ? ['2026-07-28 (extension)'] : [])]),
  },
  {
    id: 'tasks',
    title: 'Stores of tasks',
    show: ({ stores }) =>
      list(engines.filter((engine) => stores.some((name) => name.toLowerCase().includes(engine.toLowerCase().slice(0, 8))))),
  },
  { id: 'transports', title: 'Transports that are published', show: list },
  {
    id: 'survivesKill',
    title: 'A task ends after `kill -9` of its server',
    show: (value) => (value === null ? 'no store on a disk to try it with' : `yes, ${value} kills`),
  },
  {
    id: 'conformance',
    title: 'Official conformance suite, both roles',
    show: ({ passed, failed, listed }) => `${passed} scenarios pass, ${failed} fail, ${listed} with a known reason`,
  },
];

const charts = [
  { id: 'stdioCpu', file: 'facts-stdio.svg', title: 'Server CPU for a tools/call over stdio (microseconds)', of: (value) => value },
  { id: 'httpCpu', file: 'facts-http.svg', title: 'Server CPU for a tools/call over HTTP (microseconds)', of: (value) => value },
  { id: 'coldStart', file: 'facts-start.svg', title: 'Process start to the first tools/list (milliseconds)', of: (value) => value },
  { id: 'installed', file: 'facts-packages.svg', title: 'Packages that an installation brings', of: (value) => value?.packages },
];

/** @returns {readonly { file: string, render: () => string }[]} What shows the facts: the page and its charts, below the root. */
export function pagesOfFacts(report) {
  const page = 'docs/why.md';
  return [
    { file: page, render: () => renderPage(readFileSync(join(root, page), 'utf8'), report) },
    ...charts.map((chart) => ({ file: `docs/public/images/${chart.file}`, render: () => renderChart(chart, report) })),
  ];
}

/** Puts the table and the charts in place of those in a page. */
function renderPage(page, facts) {
  const [from, to] = [page.indexOf(markers[0]), page.indexOf(markers[1])];
  if (from === -1 || to < from) throw new Error(`docs/why.md lacks the lines ${markers.join(' and ')}`);
  return page.slice(0, from) + [markers[0], renderTable(facts), ...charts.map(renderImage), ''].join('\n\n') + page.slice(to);
}

function renderImage({ file, title }) {
  return `![${title}, one bar a library](/images/${file})`;
}

function renderTable({ measured, libraries, facts }) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  const ours = libraries[0].name;
  const cell = ({ id, show }, { name }) => {
    const value = facts[id]?.[name];
    if (value === undefined) return notMeasured;
    return show(value, name === ours ? undefined : facts[id][ours]);
  };
  return [
    `Measured on ${measured.date}, ${measured.machine}, Node ${measured.node}; medians of ${measured.rounds} rounds. "x" compares with Mortise: above 1 is more.`,
    [
      line(['what', ...libraries.map(({ name, version }) => `${name} ${version}`), 'shown by `npm run facts -- --only ...`']),
      line(['---', ...libraries.map(() => '---'), '---']),
      ...rows.map((row) => line([row.title, ...libraries.map((library) => cell(row, library)), `\`${row.id}\``])),
    ].join('\n'),
  ].join('\n\n');
}

/** A bar for each library that has the figure. */
function renderChart({ id, title, of }, { libraries, facts }) {
  const bars = libraries.flatMap(({ name }) => {
    const value = of(facts[id]?.[name]);
    return typeof value === 'number' ? [{ name, value }] : [];
  });
  return drawBars(title, bars);
}

/** An image cannot see the page around it, so its colours follow the system's. */
function drawBars(title, bars) {
  const [width, left, rowHeight] = [640, 110, 26];
  const most = Math.max(1, ...bars.map(({ value }) => value));
  const height = 40 + bars.length * rowHeight;
  const draw = ({ name, value }, index) => {
    const y = 36 + index * rowHeight;
    const length = Math.max(2, (value / most) * (width - left - 70)).toFixed(1);
    const label = Number(value.toFixed(value < 10 ? 1 : 0));
    return [
      `<text x="${left - 8}" y="${y + 13}" text-anchor="end">${name}</text>`,
      `<rect x="${left}" y="${y}" width="${length}" height="18" rx="3"${index === 0 ? ' class="ours"' : ''}/>`,
      `<text x="${(left + Number(length) + 6).toFixed(1)}" y="${y + 13}">${label}</text>`,
    ].join('');
  };
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="${title}">`,
    '<style>svg{color:#30353c;font:13px system-ui,sans-serif}@media(prefers-color-scheme:dark){svg{color:#d5d9df}}text{fill:currentColor}rect{fill:currentColor;opacity:.35}.ours{fill:#2f7fd0;opacity:1}</style>',
    `<text x="0" y="16" font-weight="600">${title}</text>`,
    ...bars.map(draw),
    '</svg>\n',
  ].join('\n');
}
