/**
 * The option `--bracket`: reads the anchors of a grader from an audit's file, and renders shares as a text table. The anchors
 * are the scores of open-loop with its best constant belief and of planner-oracle. A share is a score's place between them: 0
 * at open-loop, 1 at planner-oracle (evaluation/bracket.ts).
 */
import { sequenceGraderUnder } from '../../agents/policies/open-loop.js';
import type { GraderAnchors } from '../../evaluation/audit/read-anchors.js';
import {
  type BracketedEvaluation,
  type BracketedRow,
  bracketNotes,
  checkGrader,
  type GraderInUse,
  readAnchors,
  SHARE_MEANING,
} from '../../evaluation/bracket.js';
import { alignedInterval } from '../../evaluation/format-results.js';
import { packageVersion } from '../../shared/version.js';
import { createWorld } from '../../world/world.js';
import { namingFile, readJson } from '../files/input-file.js';
import { renderColumns, wrap } from '../text-table.js';
import { markedName, title } from './eval-table.js';

/** The maximum size of an audit in bytes: hundreds of times the usual size. */
const MAX_BYTES = 16 * 2 ** 20;

/**
 * Returns the anchors in an audit's file; null without --bracket.
 * @throws UsageError that names the file; an AbortError after an abort.
 */
export async function readBracket(
  path: string | undefined,
  signal: AbortSignal,
): Promise<GraderAnchors | null> {
  if (path === undefined) return null;
  const settings = { version: packageVersion(), worldDigest: createWorld().digest };
  const file = { option: '--bracket', path, max: MAX_BYTES, remedy: 'Pass the JSON of audit --json.' };
  return readJson(file, (value) => readAnchors(value, settings), signal);
}

/** Checks that the anchors of a file are of a grader in use. @throws UsageError that names the file. */
export function checkBracketGrader(
  path: string | undefined,
  anchors: GraderAnchors | null,
  used: readonly GraderInUse[],
): void {
  if (path !== undefined && anchors !== null) namingFile('--bracket', path, () => checkGrader(anchors, used));
}

/** Returns a table of shares with a column for each grader, and notes. Leaves out columns and rows without a share. */
export function renderBracket({ grader, rows, brackets }: BracketedEvaluation): string {
  const graders = [grader, ...(rows[0]?.regraded ?? []).map((other) => other.grader)];
  const scored = rows.flatMap(({ profiles }) => graders.map((name) => ({ grader: name, profiles })));
  const notes = bracketNotes(scored, brackets);
  const columns = graders
    .map((name, k) => ({ name, k }))
    .filter(({ k }) => rows.some((row) => shareAt(row, k)));
  const meaning = columns.some(({ k }) => k > 0) ? `${SHARE_MEANING} ${sequenceNote(grader)}` : SHARE_MEANING;
  const table = columns.length === 0 ? '' : `\n${wrap(meaning)}\n${tableOf(rows, columns)}\n`;
  return `${table}\n${notes.map((note) => `${wrap(note)}\n`).join('')}`;
}

/** Says why the share of open-loop can be below 0. @param grader the name of the grader in use. */
const sequenceNote = (grader: string): string =>
  'Each grader has a best sequence of its own. In every column open-loop plays the sequence found for ' +
  `${sequenceGraderUnder(grader)}, so its share under another grader can be below 0.`;

/** Returns a row's share under the grader in use (k = 0) or under the other grader k - 1. */
const shareAt = ({ share, regraded }: BracketedRow, k: number) => (k === 0 ? share : regraded[k - 1].share);

function tableOf(rows: readonly BracketedRow[], graders: readonly { name: string; k: number }[]): string {
  const shown = rows.filter((row) => graders.some(({ k }) => shareAt(row, k)));
  const lines = shown.flatMap((row, i) => {
    const shares = graders.map(({ k }) => shareAt(row, k));
    const cells = [
      markedName(row),
      ...shares.map((share) => (share === null ? '-' : alignedInterval(share))),
    ];
    if (row.condition === shown[i - 1]?.condition) return [cells];
    return [[{ content: `\n${title(row)}`, colSpan: graders.length + 1 }], cells];
  });
  const heads = ['share:\npolicy', ...graders.map(({ name }) => `under ${name}\n(95 %)`)];
  return renderColumns(heads, lines);
}
