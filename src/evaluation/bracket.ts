/** The bracket of a grader: two anchors, which audit/read-anchors.ts describes. A score is placed between them as a share of the value of knowing the profile. */
import { type Grader, type GraderWeights, isSameGrader } from '../engine/graders/grader.js';
import { BadRow } from '../shared/row-schemas.js';
import { follows, otherSchema, SCHEMAS, type Schema } from '../shared/schemas.js';
import { type Interval, tQuantile } from '../shared/statistics.js';
import { describe } from '../shared/values.js';
import { PROFILE_KINDS, type ProfileKind } from '../world/conditions.js';
import { anchorsOf, type GraderAnchors, type ScoreAnchors, shippedAnchors } from './audit/read-anchors.js';
import type { Evaluation, EvaluationRow } from './evaluate.js';
import { decimals, plainInterval } from './format-results.js';
import type { RegradedScore } from './score-tally.js';
import { evaluationYardsticks, type Yardstick } from './yardstick.js';

/** The least distance of the anchors. Chosen by hand: with closer anchors, a share would be mostly noise. */
export const MIN_SPAN = 0.02;

/** The share of a score; null if its grader and profiles have no anchors, or `isTooNarrow` holds for its anchors. */
export type Share = Interval | null;

/** Whether the anchors lie closer than MIN_SPAN, or in the wrong order. */
export const isTooNarrow = ({ sequence, oracle }: ScoreAnchors): boolean =>
  !(oracle.mean - sequence.mean >= MIN_SPAN);

/**
 * Returns (score - sequence) / (oracle - sequence), and null if `isTooNarrow` holds for the anchors. The interval follows
 * from the standard errors of the score and both anchors by the delta method, with the t quantile of Welch's and
 * Satterthwaite's degrees of freedom. The anchors share seeds, so their errors may be correlated: they are added, as if fully
 * correlated. The bounds are null if a standard error is unknown.
 * @param episodes the number of episodes of the score.
 */
export function shareOf(score: Interval, episodes: number, anchors: ScoreAnchors): Share {
  if (isTooNarrow(anchors)) return null;
  const { sequence, oracle, sequenceSeeds, oracleSeeds } = anchors;
  const span = oracle.mean - sequence.mean;
  const share = (score.mean - sequence.mean) / span;
  const counts = [episodes, countOf(sequenceSeeds), countOf(oracleSeeds)];
  const errors = [score, sequence, oracle].map((interval, k) => errorOf(interval, counts[k]));
  if (errors.some(Number.isNaN)) return { mean: share, low: null, high: null };
  const [scoreError, sequenceError, oracleError] = errors;
  const half = halfWidth([
    { error: scoreError / span, freedom: counts[0] - 1 },
    {
      error: (Math.abs(1 - share) * sequenceError + Math.abs(share) * oracleError) / span,
      freedom: Math.min(counts[1], counts[2]) - 1,
    },
  ]);
  return { mean: share, low: share - half, high: share + half };
}

/** Returns the number of seeds of a range such as "20000-20099"; NaN for another text. */
function countOf(seeds: string): number {
  const [, first, last] = /^(\d+)-(\d+)$/.exec(seeds) ?? [];
  return Number(last) - Number(first) + 1;
}

/** Returns the standard error of a mean; NaN if it is unknown. @param count the number of episodes. */
const errorOf = ({ mean, high }: Interval, count: number): number =>
  high === null || !(count >= 2) ? Number.NaN : (high - mean) / tQuantile(count - 1);

interface ErrorTerm {
  readonly error: number;
  /** Degrees of freedom. */
  readonly freedom: number;
}

/** Returns half the width of the 95 % interval of a sum with independent errors. */
function halfWidth(terms: readonly ErrorTerm[]): number {
  const variance = terms.reduce((sum, { error }) => sum + error ** 2, 0);
  if (variance === 0) return 0;
  const spread = terms.reduce((sum, { error, freedom }) => sum + error ** 4 / freedom, 0);
  return tQuantile(Math.max(1, Math.floor(variance ** 2 / spread))) * Math.sqrt(variance);
}

/** A row of an evaluation with its shares. */
export interface BracketedRow extends EvaluationRow {
  /** The share under the grader in use. */
  readonly share: Share;
  readonly regraded: readonly (RegradedScore & { readonly share: Share })[];
}

/** An evaluation with the shares of its policies, and its yardsticks. */
export interface BracketedEvaluation extends Evaluation {
  readonly rows: readonly BracketedRow[];
  /** The anchors of the graders in use. Graders whose anchors are unknown are left out. */
  readonly brackets: readonly GraderAnchors[];
  /** By condition and grader. */
  readonly yardsticks: readonly Yardstick[];
}

/**
 * Returns the kind of a row's profiles. 'named', several named profiles, counts as 'discrete'. Null for a single named profile,
 * and for 'mixed', sampled and named profiles: these have no anchors.
 */
function kindOf(profiles: string): ProfileKind | null {
  if (profiles === 'sampled') return 'sampled';
  return profiles === 'discrete' || profiles === 'named' ? 'discrete' : null;
}

/** A mean score, with its episodes and profiles. */
interface Scored {
  readonly finalScore: Interval;
  readonly episodes: number;
  readonly profiles: string;
}

/** Returns the share of a score under a grader, or null (see `Share`). */
export function shareUnder(brackets: readonly GraderAnchors[], grader: string, scored: Scored): Share {
  const bracket = brackets.find((candidate) => candidate.grader === grader);
  const kind = kindOf(scored.profiles);
  if (bracket === undefined || kind === null) return null;
  return shareOf(scored.finalScore, scored.episodes, bracket.anchors[kind]);
}

/**
 * Returns the anchors of graders, in order. Graders without anchors for this world are left out.
 * @param own anchors to use instead of the shipped anchors of their grader.
 */
export function bracketsOf(
  graders: readonly string[],
  worldDigest: string,
  own: GraderAnchors | null,
): GraderAnchors[] {
  const found = graders.map((grader) => (own?.grader === grader ? own : shippedAnchors(grader)));
  return found.filter(
    (bracket) => bracket !== null && bracket.worldDigest === worldDigest,
  ) as GraderAnchors[];
}

/** Adds the shares and yardsticks to an evaluation. @param own as in `bracketsOf`. */
export function bracketEvaluation(evaluation: Evaluation, own: GraderAnchors | null): BracketedEvaluation {
  const { rows, grader, worldDigest } = evaluation;
  const others = (rows[0]?.regraded ?? []).map((other) => other.grader);
  const brackets = bracketsOf([grader, ...others], worldDigest, own);
  const bracketed = rows.map((row) => ({
    ...row,
    share: shareUnder(brackets, grader, row),
    regraded: row.regraded.map((score) => ({
      ...score,
      share: shareUnder(brackets, score.grader, { ...row, finalScore: score.finalScore }),
    })),
  }));
  return { ...evaluation, rows: bracketed, brackets, yardsticks: evaluationYardsticks(evaluation) };
}

/** The version and the world that an audit must have. */
export interface BracketSettings {
  readonly version: string;
  readonly worldDigest: string;
}

/**
 * Returns the anchors in the parsed JSON of an audit.
 * @throws BadRow for another schema, version or world. InputError as `anchorsOf` throws.
 */
export function readAnchors(audit: unknown, { version, worldDigest }: BracketSettings): GraderAnchors {
  checkSchema(audit);
  const anchors = anchorsOf(audit);
  refuseOther('of rhythm-vec', version, anchors.version);
  refuseOther('of the world', worldDigest, anchors.worldDigest);
  return anchors;
}

function checkSchema(audit: unknown): void {
  const { schema } = Object(audit) as { schema?: Partial<Schema> };
  if (schema?.name !== SCHEMAS.audit.name) {
    const got = schema === undefined ? 'a value without "schema"' : describe(schema?.name ?? schema);
    throw new BadRow(`Expected the JSON of audit --json, got ${got}. Pass an audit.`);
  }
  if (!follows(SCHEMAS.audit, schema)) throw new BadRow(otherSchema(SCHEMAS.audit, schema));
}

const AGAIN = 'Run the audit again, with `rhythm-vec audit --grader NAME --json AUDIT.json`.';

function refuseOther(what: string, expected: string, got: string): void {
  if (expected !== got)
    throw new BadRow(`Expected an audit ${what} ${describe(expected)}, got ${describe(got)}. ${AGAIN}`);
}

/** A grader of results. Its weights may be unknown. */
export interface GraderInUse {
  readonly name: string;
  readonly weights?: GraderWeights;
}

/** Checks that anchors are of a grader in use. @throws BadRow for another grader, and for other weights. */
export function checkGrader({ grader, graderWeights }: GraderAnchors, used: readonly GraderInUse[]): void {
  const same = used.filter(({ name }) => name === grader);
  if (same.length === 0) {
    const names = [...new Set(used.map(({ name }) => name))].join(', ');
    throw new BadRow(
      `Expected an audit of a grader in use (${names}), got an audit of ${describe(grader)}. ${AGAIN}`,
    );
  }
  const audited: Grader = { name: grader, weights: graderWeights };
  const other = same.find(({ name, weights }) => weights && !isSameGrader({ name, weights }, audited));
  if (other === undefined) return;
  throw new BadRow(
    `Expected an audit of ${describe(grader)} with the weights in use, got other weights. ${AGAIN}`,
  );
}

/** The meaning of a share, for notes. */
export const SHARE_MEANING =
  'Share of the value of knowing the profile: 0 is the score of the best open-loop sequence with its best constant belief, and 1 ' +
  'that of planner-oracle, which knows the profile. Intervals combine the errors of the policy and of both anchors (delta method).';

/** A score's grader and profiles. */
interface ScoreContext {
  readonly grader: string;
  readonly profiles: string;
}

/** Returns one line for each grader and kind of profiles: its anchors, or the reason why there is no share. */
export function bracketNotes(scores: readonly ScoreContext[], brackets: readonly GraderAnchors[]): string[] {
  const graders = [...new Set(scores.map(({ grader }) => grader))];
  return graders.flatMap((grader) => {
    const bracket = brackets.find((candidate) => candidate.grader === grader);
    if (bracket === undefined) return [missingNote(grader)];
    const graded = scores.filter((score) => score.grader === grader).map(({ profiles }) => profiles);
    const kinds = graded.map(kindOf);
    const missing = graded
      .filter((profiles) => kindOf(profiles) === null)
      .map((profiles) =>
        profiles === 'mixed' ? 'Sampled and named profiles together have' : 'One named profile has',
      );
    return [
      ...PROFILE_KINDS.filter((kind) => kinds.includes(kind)).map((kind) => anchorNote(bracket, kind)),
      ...[...new Set(missing)].map((profiles) => `${profiles} no anchors under ${grader}: no share.`),
    ];
  });
}

const missingNote = (grader: string): string =>
  `No share under ${grader}, whose anchors are unknown. \`rhythm-vec audit --json AUDIT.json\` measures them, ` +
  'and --bracket AUDIT.json uses them.';

function anchorNote({ grader, anchors }: GraderAnchors, kind: ProfileKind): string {
  const { sequence, oracle } = anchors[kind];
  const where = `${kind} profiles under ${grader}`;
  if (oracle.mean < sequence.mean) {
    const [low, high] = [oracle, sequence].map(({ mean }) => decimals(mean));
    return `No share for ${where}: the anchor of planner-oracle, ${low}, lies below that of the sequence, ${high}.`;
  }
  return isTooNarrow(anchors[kind])
    ? `No share for ${where}: the anchors, ${decimals(sequence.mean)} and ${decimals(oracle.mean)}, lie closer than ${MIN_SPAN}.`
    : `Anchors for ${where}: ${plainInterval(sequence)} (0) and ${plainInterval(oracle)} (1).`;
}
