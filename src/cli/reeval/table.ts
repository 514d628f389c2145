/** A re-evaluation as tables for people. */
import { counted, decimals, intervalText, winsText } from '../../evaluate/figures.js';
import { PUBLISHED_TEACHER, published, publishedTeacher } from '../../evaluate/published.js';
import type { RunInfo } from '../../evaluate/run-info.js';
import { POLICY_NAMES } from '../../policies/policies.js';
import type { ReevaluatedRow, Section } from '../../reeval/reevaluation.js';
import { FALLBACK_ACTION, type Player } from '../../trajectory/episode.js';
import { ORACLE_MARK, teacherName } from '../../trajectory/player-name.js';
import { isFigure, PUBLISHED_HEAD, publishedText, renderRun, sharedNotes, title } from '../eval/table.js';
import { renderColumns } from '../table.js';
import type { ReevalCounts } from './stream.js';

interface Place {
  readonly condition: string;
  readonly profiles: string;
  readonly grader: string;
}

interface Column {
  readonly head: string;
  readonly text: (row: ReevaluatedRow, place: Place) => string;
}

const COLUMNS: readonly Column[] = [
  { head: '\nwho', text: rowName },
  { head: 'final score\n(95 %)', text: ({ finalScore }) => intervalText(finalScore) },
  { head: PUBLISHED_HEAD, text: publishedScore },
  { head: 'belief\nMAE', text: ({ beliefMae }) => decimals(beliefMae) },
  { head: 'early\nmean', text: ({ earlyMean }) => decimals(earlyMean) },
  { head: 'late\nmean', text: ({ lateMean }) => decimals(lateMean) },
  { head: 'adapt-\nation', text: ({ components }) => decimals(components.adaptation) },
  { head: 'against\nheuristic', text: ({ overHeuristic }) => winsText(overHeuristic.wins) },
  { head: 'against\n+constant', text: ({ overConstant }) => winsText(overConstant.wins) },
  { head: 'over +constant\n(95 %)', text: ({ overConstant }) => intervalText(overConstant.difference) },
];

/** A teacher as tables call it: "llm:MODEL (wellbeing) [oracle]". */
function playerName(player: Player): string {
  const { objective, oracle } = player;
  return `${teacherName(player)}${objective === null ? '' : ` (${objective})`}${oracle ? ORACLE_MARK : ''}`;
}

/** The name of a quick policy whose weeks `eval` has written; null for others. */
const policyOf = ({ teacher, model }: Player): string | null =>
  model === null && POLICY_NAMES.includes(teacher) ? teacher : null;

function rowName({ baseline, player }: ReevaluatedRow): string {
  return player === null ? baseline! : playerName(player);
}

/** A policy's of `eval` is its own, a teacher's that of the published teacher; one that knows the person has none. */
function publishedScore(
  { baseline, player }: ReevaluatedRow,
  { condition, profiles, grader }: Place,
): string {
  if (profiles !== 'sampled' && !condition.startsWith('discrete')) return '-';
  const policy = baseline ?? policyOf(player!);
  if (policy !== null) return publishedText(published(condition, policy, grader));
  return player?.oracle ? '-' : publishedText(publishedTeacher(condition, grader));
}

/** What runs, the tables, what to make of them, and what came of the files. */
export function renderReevaluated(run: RunInfo, sections: readonly Section[], counts: ReevalCounts): string {
  const graders = sections[0].graders.map(({ grader, weights }) => ({ grader, graderWeights: weights }));
  const tables = graders.map(({ grader }, g) => {
    const head = graders.length === 1 ? '' : `grader ${grader}\n`;
    return `\n${head}${renderGrader(sections, g)}\n`;
  });
  return `${renderRun(run, graders)}${tables.join('')}\n${notes(sections, counts)}`;
}

/** Whether a row under a grader has a published figure; of teachers' rows alone, if that is asked. */
const hasPublished = (sections: readonly Section[], g: number, teachers = false): boolean =>
  sections.some(({ condition, profiles, graders }) => {
    const { grader, rows } = graders[g];
    const asked = teachers ? rows.filter(({ player }) => player !== null && policyOf(player) === null) : rows;
    return asked.some((row) => isFigure(publishedScore(row, { condition, profiles, grader })));
  });

function renderGrader(sections: readonly Section[], g: number): string {
  const columns = COLUMNS.filter(({ head }) => head !== PUBLISHED_HEAD || hasPublished(sections, g));
  const lines = sections.flatMap(({ condition, profiles, seeds, graders }) => {
    const { grader, rows } = graders[g];
    const place = { condition, profiles, grader };
    const head = title({ condition, seeds, profiles, episodes: rows[0].episodes });
    return [
      [{ content: `\n${head}`, colSpan: columns.length }],
      ...rows.map((row) => columns.map(({ text }) => text(row, place))),
    ];
  });
  return renderColumns(
    columns.map(({ head }) => head),
    columns.map((_, k) => (k === 0 ? 'left' : 'right')),
    lines,
  );
}

function notes(sections: readonly Section[], counts: ReevalCounts): string {
  const [{ graders }] = sections;
  const rows = sections.flatMap((section) => section.graders[0].rows);
  const tapes = new Set(graders.flatMap((each) => each.rows.flatMap(({ tape }) => tape ?? [])));
  return [
    'against: final scores won/lost/tied in the same weeks; +constant is heuristic+constant.',
    ...sharedNotes(graders.some((_, g) => hasPublished(sections, g))),
    ...(graders.some((_, g) => hasPublished(sections, g, true)) ? [PUBLISHED_NOTE] : []),
    ...(rows.some(({ player }) => player?.oracle) ? [ORACLE] : []),
    `blind-tape: the same actions for everybody, found for ${tapes.size === 1 ? 'grader' : 'graders'} ${[...tapes].join(' and ')}.`,
    ...rows.flatMap(unparsedNote),
    ...(counts.mismatches === 0 ? [] : ['Scores are those of the replay, whatever the files say.']),
    outcome(counts),
    '',
  ].join('\n');
}

const PUBLISHED_NOTE = `published, of a teacher in the files: that of RhythmEnv's frontier-model teacher, whose belief MAE was ${PUBLISHED_TEACHER[0].beliefMae}.`;
const ORACLE = '[oracle]: was shown hidden numbers, which no agent is. Not a result of an agent.';

function unparsedNote(row: ReevaluatedRow): string[] {
  if (row.unparsed === 0) return [];
  return [
    `${rowName(row)}: in ${row.unparsed} of ${row.steps} steps no action was read; ${FALLBACK_ACTION} was played.`,
  ];
}

function outcome({ episodes, mismatchedEpisodes, mismatches, skipped }: ReevalCounts): string {
  const played = `${counted(episodes, 'episode')} replayed`;
  const found =
    mismatches === 0
      ? 'all as recorded, bit for bit'
      : `${mismatchedEpisodes} NOT AS RECORDED, in ${counted(mismatches, 'place')}`;
  return `${played}, ${found}.${skipped.total === 0 ? '' : ` ${skipped.text}.`}`;
}
