/** Sections: missing contents with the commands that make them, and the files of a report; warnings of mixed worlds or versions. */
import { grouped } from '../../evaluation/format-results.js';
import { toPrintable } from '../../shared/names.js';
import type { ReportData, Source } from '../result-gatherer.js';
import { type Column, type Html, html, paragraph, type Section, table } from '../section.js';

const unique = (values: readonly string[]): string[] => [...new Set(values)];

/** The provenance of all files, without repetition. */
export interface Origin {
  readonly versions: readonly string[];
  readonly worlds: readonly string[];
  readonly engines: readonly string[];
  readonly machines: readonly string[];
  readonly seeds: readonly string[];
}

/** Returns the provenance of all files of a report. */
export function originOf({ sources }: ReportData): Origin {
  const engines = sources.flatMap(({ engine }) => engine ?? []);
  return {
    versions: unique(sources.flatMap(({ versions }) => versions)),
    worlds: unique(sources.flatMap(({ worlds }) => worlds)),
    engines: unique(
      engines.map(
        ({ backend, kernel, threads, device }) =>
          `${backend}${device ? ` on ${toPrintable(device)}` : ''}, kernel ${kernel}, ${threads} threads`,
      ),
    ),
    machines: unique(
      engines.map(({ machine }) =>
        toPrintable(`${machine.cpu}, ${machine.cores} cores, ${machine.arch}, Node ${machine.node}`),
      ),
    ),
    seeds: unique(sources.flatMap(({ seeds }) => seeds)),
  };
}

/** Returns warnings for the top of the page if worlds or versions are mixed. */
export function warningsOf(origin: Origin): Html[] {
  const mixed: [what: string, values: readonly string[], why: string][] = [
    ['worlds', origin.worlds, 'Episodes of different worlds differ. Their scores cannot be compared.'],
    ['versions', origin.versions, 'Policies may differ between versions. Compare with care.'],
  ];
  return mixed
    .filter(([, values]) => values.length > 1)
    .map(
      ([what, values, why]) =>
        html`<p class="warning"><strong>Results of ${values.length} different ${what} are mixed here.</strong> ${why}</p>\n`,
    );
}

const KINDS: Readonly<Record<Source['kind'], string>> = {
  evaluation: 'evaluation (eval)',
  reevaluation: 're-evaluation (reeval)',
  audit: 'audit (audit)',
  training: 'training (pipeline.py)',
  trajectories: 'trajectories (teach, eval)',
};

/** Returns the section. Every report has it. */
export function sourcesSection(data: ReportData): Section {
  const { sources } = data;
  return {
    id: 'files',
    title: 'Files and provenance',
    parts: [
      table('The files of this page', COLUMNS, sources),
      ...(sources.some(({ engine }) => engine === null) ? [paragraph(NO_BACKEND)] : []),
      provenanceOf(originOf(data)),
    ],
  };
}

/** Returns a list of the provenance. */
function provenanceOf({ versions, worlds, engines, machines, seeds }: Origin): Html {
  const entries: [name: string, values: readonly string[]][] = [
    ['rhythm-vec', versions],
    ['world', worlds],
    ['seeds', seeds.length === 0 ? [] : [seeds.join('; ')]],
    ['backend', engines],
    ['machine', machines],
  ];
  const rows = entries.map(([name, values]) => {
    const lines = values.length === 0 ? ['unknown'] : values;
    return html`<dt>${name}</dt>${lines.map((value) => html`<dd><bdi>${value}</bdi></dd>`)}\n`;
  });
  return html`<dl>${rows}</dl>\n`;
}

const NO_BACKEND =
  'A dash in the column backend: the file does not name its backend. All backends and kernels give the same results, bit for bit.';

const COLUMNS: readonly Column<Source>[] = [
  { head: 'file', cell: ({ label }) => label },
  { head: 'kind', cell: ({ kind }) => KINDS[kind], numeric: false },
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
    cell: ({ engine }) => (engine === null ? '–' : `${engine.backend}, ${engine.kernel}`),
    numeric: false,
  },
  { head: 'remarks', cell: ({ remark }) => remark || '–', numeric: false },
];

/** A part of a report, and the command that writes the file that it needs. */
interface Content {
  readonly what: string;
  readonly command: string;
  readonly isPresent: (data: ReportData) => boolean;
}

const CONTENTS: readonly Content[] = [
  {
    what: 'Scores of policies, beside the published scores',
    command: 'rhythm-vec eval --json results.json',
    isPresent: ({ sources }) => sources.some(({ kind }) => kind === 'evaluation' || kind === 'reevaluation'),
  },
  {
    what: 'Use of actions, and timelines of episodes',
    command: 'rhythm-vec eval --trajectories episodes.jsonl',
    isPresent: ({ players }) => players.length > 0,
  },
  {
    what: 'Belief errors and calibration, from players that state beliefs',
    command: 'rhythm-vec teach --seeds 100-129 --output teacher.jsonl',
    isPresent: ({ players }) => players.some(({ calibration }) => calibration !== null),
  },
  {
    what: 'What the grader pays for',
    command: 'rhythm-vec audit --json audit.json',
    isPresent: ({ audits }) => audits.length > 0,
  },
  {
    what: 'Cost of a language model',
    command: 'rhythm-vec eval --policies llm:MODEL --trajectories episodes.jsonl',
    isPresent: ({ costs }) => costs.some(({ spending }) => spending.metered > 0),
  },
];

/** Returns the section; null if nothing is missing. */
export function missingSection(data: ReportData): Section | null {
  const missing = CONTENTS.filter(({ isPresent }) => !isPresent(data));
  if (missing.length === 0) return null;
  const items = missing.map(({ what, command }) => html`<li>${what}: <code>${command}</code></li>\n`);
  return { id: 'missing', title: 'What is missing', parts: [html`<ul>${items}</ul>\n`] };
}
