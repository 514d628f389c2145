/** Renders a re-evaluation as text tables. */

import { POLICY_NAMES } from '../agents/policies/fixed-policies.js';
import { alignedInterval, counted, decimals, listed, winsText } from '../evaluation/format-results.js';
import { published, publishedTeacher, TEACHER_BELIEF_MAE } from '../evaluation/published-scores.js';
import type { ReevaluatedRow, Section } from '../evaluation/reevaluation/reevaluation.js';
import type { RunInfo } from '../evaluation/run-info.js';
import { type PolicyScore, yardstickNotes, yardsticksOf } from '../evaluation/yardstick.js';
import { playerName } from '../report/player-names.js';
import { FALLBACK_ACTION } from '../rollouts/trajectories/move.js';
import type { Player } from '../rollouts/trajectories/trajectory-episode.js';
import { camelCase } from '../shared/names.js';
import { isScore, PUBLISHED_HEAD, publishedText, renderRun, sharedNotes, title } from './eval/eval-table.js';
import type { SkippedLines } from './files/trajectory-files.js';
import { COMPONENT_HEADS, renderColumns, wrap } from './text-table.js';

/** Counts over all files. */
export interface ReevalCounts {
  /** The number of replayed episodes. */
  episodes: number;
  /** The number of episodes that differ from their replay. */
  mismatchedEpisodes: number;
  /** The number of differences. */
  mismatches: number;
  readonly skipped: SkippedLines;
}

interface RowContext {
  readonly condition: string;
  readonly profiles: string;
  readonly grader: string;
}

interface Column {
  readonly head: string;
  readonly text: (row: ReevaluatedRow, context: RowContext) => string;
  readonly component?: string;
}

/** Returns the column of a component. It is shown under graders that weigh it. */
const componentColumn = (name: string): Column => ({
  head: COMPONENT_HEADS[name],
  text: ({ components }) => decimals(components[camelCase(name)]),
  component: name,
});

const COLUMNS: readonly Column[] = [
  { head: '\nplayer', text: rowName },
  { head: 'final score\n(95 %)', text: ({ finalScore }) => alignedInterval(finalScore) },
  { head: PUBLISHED_HEAD, text: publishedScore },
  { head: 'belief\nMAE', text: ({ beliefMae }) => decimals(beliefMae) },
  { head: '1st\nhalf', text: ({ firstHalfMean }) => decimals(firstHalfMean) },
  { head: '2nd\nhalf', text: ({ secondHalfMean }) => decimals(secondHalfMean) },
  ...['adaptation', 'wellbeing', 'belief_skill'].map(componentColumn),
  { head: 'against\nheuristic', text: ({ overHeuristic }) => winsText(overHeuristic.wins) },
  { head: 'against\n+constant', text: ({ overConstant }) => winsText(overConstant.wins) },
  { head: 'over +constant\n(95 %)', text: ({ overConstant }) => alignedInterval(overConstant.difference) },
];

/** Returns the name of a player of stored episodes if it is a fixed policy (fixed-policies.ts), else null. */
const policyOf = ({ teacher, model }: Player): string | null =>
  model === null && POLICY_NAMES.includes(teacher) ? teacher : null;

function rowName({ baseline, player }: ReevaluatedRow): string {
  return player === null ? baseline! : playerName(player);
}

/**
 * Formats the published score for a row. A baseline or fixed policy has its own; other players have that of RhythmEnv's
 * teacher. Returns '-' for oracles, for profiles that the published evaluations did not use, and where no score was published.
 */
function publishedScore(
  { baseline, player }: ReevaluatedRow,
  { condition, profiles, grader }: RowContext,
): string {
  if (profiles !== 'sampled' && !condition.startsWith('discrete')) return '-';
  const policy = baseline ?? policyOf(player!);
  if (policy !== null) return publishedText(published(condition, policy, grader));
  return player?.oracle ? '-' : publishedText(publishedTeacher(condition, grader));
}

/** Returns the header, the tables, the notes, and how many episodes differ from their replays. */
export function renderReevaluated(run: RunInfo, sections: readonly Section[], counts: ReevalCounts): string {
  const graders = sections[0].graders.map(({ grader, weights }) => ({ grader, graderWeights: weights }));
  const tables = graders.map(({ grader }, g) => {
    const head = graders.length === 1 ? '' : `grader ${grader}\n`;
    return `\n${head}${renderGrader(sections, g)}\n`;
  });
  return `${renderRun(run, graders)}${tables.join('')}\n${notes(run, sections, counts)}`;
}

/**
 * Returns whether any row under a grader has a published score. @param g the index of the grader. @param teachersOnly whether
 * the rows of baselines and fixed policies are ignored.
 */
const hasPublished = (sections: readonly Section[], g: number, { teachersOnly = false } = {}): boolean =>
  sections.some(({ condition, profiles, graders }) => {
    const { grader, rows } = graders[g];
    const considered = teachersOnly
      ? rows.filter(({ player }) => player !== null && policyOf(player) === null)
      : rows;
    return considered.some((row) => isScore(publishedScore(row, { condition, profiles, grader })));
  });

function renderGrader(sections: readonly Section[], g: number): string {
  const { weights } = sections[0].graders[g];
  const columns = COLUMNS.filter(({ head, component }) =>
    head === PUBLISHED_HEAD ? hasPublished(sections, g) : component === undefined || weights[component] !== 0,
  );
  const lines = sections.flatMap(({ condition, profiles, seeds, graders }) => {
    const { grader, rows } = graders[g];
    const context = { condition, profiles, grader };
    const head = title({ condition, seeds, profiles, episodes: rows[0].episodes });
    return [
      [{ content: `\n${head}`, colSpan: columns.length }],
      ...rows.map((row) => columns.map(({ text }) => text(row, context))),
    ];
  });
  return renderColumns(
    columns.map(({ head }) => head),
    lines,
  );
}

function notes({ worldDigest }: RunInfo, sections: readonly Section[], counts: ReevalCounts): string {
  const [{ graders }] = sections;
  const rows = sections.flatMap((section) => section.graders[0].rows);
  const sequences = new Set(
    graders.flatMap((each) => each.rows.flatMap(({ sequenceGrader }) => sequenceGrader ?? [])),
  );
  return [
    'against: final scores won/lost/tied on the same seeds; +constant is heuristic+constant.',
    ...sharedNotes(graders.some((_, g) => hasPublished(sections, g))),
    ...(graders.some((_, g) => hasPublished(sections, g, { teachersOnly: true })) ? [PUBLISHED_NOTE] : []),
    ...(rows.some(({ player }) => player?.oracle) ? [ORACLE] : []),
    `open-loop: one fixed action sequence, found for ${sequences.size === 1 ? 'grader' : 'graders'} ${listed([...sequences])}.`,
    ...yardstickNotes(yardsticksOf(sections.flatMap(scoresOf), worldDigest), '--baselines').map((text) =>
      wrap(text),
    ),
    ...rows.flatMap(unparsedNote),
    ...(counts.mismatches === 0 ? [] : ['The scores are those of the replay, not of the files.']),
    outcome(counts),
    '',
  ].join('\n');
}

/** Returns the scores of a section. The baselines played for each grader, and the players for the graders of their episodes. */
const scoresOf = ({ graders, ...episodes }: Section): PolicyScore[] =>
  graders.flatMap(({ grader, weights, rows }) =>
    rows.map((row) => ({
      ...episodes,
      ...{ grader, weights, name: rowName(row), finalScore: row.finalScore, episodes: row.episodes },
      oracle: row.player?.oracle ?? false,
      isOwnGrader: row.baseline !== null,
    })),
  );

const PUBLISHED_NOTE = `published, in the rows of teachers: the score of RhythmEnv's frontier-model teacher, whose belief MAE was ${TEACHER_BELIEF_MAE}.`;
const ORACLE = '[oracle]: uses hidden state; not a valid agent.';

function unparsedNote(row: ReevaluatedRow): string[] {
  if (row.unparsed === 0) return [];
  return [
    `${rowName(row)}: in ${row.unparsed} of ${row.steps} steps no action was parsed; ${FALLBACK_ACTION} was played.`,
  ];
}

function outcome({ episodes, mismatchedEpisodes, mismatches, skipped }: ReevalCounts): string {
  const replayed = `${counted(episodes, 'episode')} replayed`;
  const comparison =
    mismatches === 0
      ? 'all as recorded, bit for bit'
      : `${mismatchedEpisodes} NOT AS RECORDED, in ${counted(mismatches, 'place')}`;
  return `${replayed}, ${comparison}.${skipped.total === 0 ? '' : ` ${skipped.text}.`}`;
}
