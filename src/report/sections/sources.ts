/** Where everything comes from, and what is mixed. */
import { grouped } from '../../evaluate/figures.js';
import { madePrintable } from '../../validate/names.js';
import type { ReportData, Source } from '../gathered.js';
import { type Column, type Html, html, paragraph, table } from '../html.js';
import type { Section } from '../section.js';

const unique = (values: readonly string[]): string[] => [...new Set(values)];

/** What all files say of themselves, once each. */
export interface Origin {
  readonly versions: readonly string[];
  readonly worlds: readonly string[];
  readonly engines: readonly string[];
  readonly machines: readonly string[];
  readonly seeds: readonly string[];
}

export function originOf({ sources }: ReportData): Origin {
  const runs = sources.flatMap(({ run }) => run ?? []);
  return {
    versions: unique(sources.flatMap(({ versions }) => versions)),
    worlds: unique(sources.flatMap(({ worlds }) => worlds)),
    engines: unique(
      runs.map(({ backend, kernel, threads }) => `${backend}, kernel ${kernel}, ${threads} threads`),
    ),
    machines: unique(
      runs.map(({ machine }) =>
        madePrintable(`${machine.cpu}, ${machine.cores} cores, ${machine.arch}, Node ${machine.node}`),
      ),
    ),
    seeds: unique(sources.flatMap(({ seeds }) => seeds)),
  };
}

/** Said before anything else where numbers that do not belong together stand side by side. */
export function warningsOf(origin: Origin): Html[] {
  const mixed: [what: string, values: readonly string[], why: string][] = [
    [
      'worlds',
      origin.worlds,
      'Weeks of different worlds are different weeks: their scores cannot be compared.',
    ],
    ['versions', origin.versions, 'Releases may play policies otherwise: compare with care.'],
  ];
  return mixed
    .filter(([, values]) => values.length > 1)
    .map(
      ([what, values, why]) =>
        html`<p class="warning"><strong>Results of ${values.length} different ${what} are mixed here.</strong> ${why}</p>\n`,
    );
}

const FROM: Readonly<Record<Source['kind'], string>> = {
  evaluation: 'evaluation (eval)',
  reevaluation: 're-evaluation (reeval)',
  audit: 'audit (audit)',
  trajectories: 'trajectories (teach, eval)',
};

export function sourcesSection({ sources }: ReportData): Section {
  return {
    id: 'files',
    title: 'Files',
    parts: [
      table('The files that this page was made of', COLUMNS, sources),
      ...(sources.some(({ run }) => run === null) ? [paragraph(NO_MACHINE)] : []),
    ],
  };
}

const NO_MACHINE =
  'Where no backend stands, the file does not say what played: every backend and kernel plays the same, bit for bit.';

const COLUMNS: readonly Column<Source>[] = [
  { head: 'file', cell: ({ label }) => label },
  { head: 'what', cell: ({ kind }) => FROM[kind], numeric: false },
  {
    head: 'episodes',
    cell: ({ episodes }) => (episodes === null ? '–' : grouped(episodes)),
  },
  { head: 'graders', cell: ({ graders }) => graders.join(', '), numeric: false },
  { head: 'seeds', cell: ({ seeds }) => seeds.join('; '), numeric: false },
  { head: 'version', cell: ({ versions }) => versions.join(', '), numeric: false },
  {
    head: 'world',
    cell: ({ worlds }) => worlds.map((digest) => digest.slice(0, 12)).join(', '),
    numeric: false,
  },
  {
    head: 'backend',
    cell: ({ run }) => (run === null ? '–' : `${run.backend}, ${run.kernel}`),
    numeric: false,
  },
  { head: 'remarks', cell: ({ remark }) => remark || '–', numeric: false },
];
