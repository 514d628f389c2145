/** Reads the anchors of a grader from an audit's JSON. Anchors are two scores, without and with knowledge of the profile. Other
 * scores are placed between them as shares: 0 at the lower anchor, 1 at the upper (../bracket.ts). */

import { toGrader } from '../../engine/graders/grader.js';
import { InputError } from '../../shared/errors.js';
import { isPrintable, PRINTABLE } from '../../shared/names.js';
import { got, notAnObject, unknownKeys } from '../../shared/schemas.js';
import type { Interval } from '../../shared/statistics.js';
import type { ProfileKind } from '../../world/conditions.js';
import { COMPONENT_NAMES, MAX_U32 } from '../../world/fields.js';
import { MEASURED } from '../measured-scores.js';

/** The scores at share 0 and at share 1 of a grader, for one kind of profiles. */
export interface ScoreAnchors {
  /** The mean score of the best sequence for all profiles, with its best constant belief: share 0. */
  readonly sequence: Interval;
  /** The seeds that `sequence` was scored on, as "20000-119999". The search for the sequence did not use them. */
  readonly sequenceSeeds: string;
  /** The mean score of `planner-oracle`: share 1. */
  readonly oracle: Interval;
  /** The seeds that `oracle` was scored on. */
  readonly oracleSeeds: string;
}

/** The anchors of a grader, with the version and the world that they were measured in. */
export interface GraderAnchors {
  readonly grader: string;
  /** The weights by component. */
  readonly graderWeights: Readonly<Record<string, number>>;
  /** The version of the package that measured the anchors. */
  readonly version: string;
  readonly worldDigest: string;
  /** By kind of profiles. */
  readonly anchors: Readonly<Record<ProfileKind, ScoreAnchors>>;
}

/** Returns whether the bounds enclose the mean, or are both null (unknown). */
function isInterval({ mean, low, high }: Interval): boolean {
  if (low === null || high === null) return low === high;
  return low <= mean && mean <= high;
}

function isSeedRange(value: unknown): boolean {
  const [, first, last] = /^(\d+)-(\d+)$/.exec(String(value)) ?? [];
  return Number(first) <= Number(last) && Number(last) <= MAX_U32;
}

/** Returns the anchors in the parsed JSON of an audit. @throws InputError `bad_audit` with the name of an invalid field. */
export function anchorsOf(audit: unknown): GraderAnchors {
  const file = fieldsOf(audit, '', ['grader', 'grader_weights', 'version', 'world_digest', 'anchors']);
  return {
    grader: check(file.grader, 'grader', `a name of ${PRINTABLE}`, isPrintable),
    graderWeights: weightsOf(file.grader_weights),
    version: check(file.version, 'version', `a version of ${PRINTABLE}`, isPrintable),
    worldDigest: check(file.world_digest, 'world_digest', '64 hexadecimal digits', isDigest),
    anchors: anchorsByKind(file.anchors),
  };
}

type Fields = Readonly<Record<string, unknown>>;

const bad = (place: string, problem: string): InputError =>
  new InputError('bad_audit', `${place === '' ? '' : `${place}: `}${problem} Pass the JSON of audit --json.`);

/** Returns a value that passes a test. @param place where the value is in the file. @throws InputError `bad_audit`. */
function check<T>(value: unknown, place: string, expected: string, test: (value: unknown) => boolean): T {
  if (test(value)) return value as T;
  throw bad(place, `Expected ${expected}, ${got(value)}`);
}

function fieldsOf(value: unknown, place: string, keys: readonly string[]): Fields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields;
  throw bad(place, notAnObject(value, keys));
}

const isDigest = (value: unknown): boolean => typeof value === 'string' && /^[0-9a-f]{64}$/.test(value);
const isScore = (value: unknown): boolean => typeof value === 'number' && value >= 0 && value <= 1;
const isBound = (value: unknown): boolean => value === null || Number.isFinite(value);

/** Returns weights by component. */
function weightsOf(value: unknown): GraderAnchors['graderWeights'] {
  const place = 'grader_weights';
  const weights = fieldsOf(value, place, COMPONENT_NAMES);
  const unknown = Object.keys(weights).filter((key) => !COMPONENT_NAMES.includes(key));
  if (unknown.length > 0) throw bad(place, unknownKeys(unknown, COMPONENT_NAMES));
  const weightOf = (name: string): number =>
    check(weights[name], `${place}.${name}`, 'a finite number', Number.isFinite);
  return Object.fromEntries(COMPONENT_NAMES.map((name) => [name, weightOf(name)]));
}

function anchorsByKind(value: unknown): GraderAnchors['anchors'] {
  const { sampled, discrete } = fieldsOf(value, 'anchors', ['sampled', 'discrete']);
  return { sampled: scoresAt(sampled, 'anchors.sampled'), discrete: scoresAt(discrete, 'anchors.discrete') };
}

function scoresAt(value: unknown, place: string): ScoreAnchors {
  const fields = fieldsOf(value, place, ['sequence', 'sequence_seeds', 'oracle', 'oracle_seeds']);
  const seedsAt = (key: string): string =>
    check(fields[key], `${place}.${key}`, 'seeds such as "20000-20099"', isSeedRange);
  return {
    sequence: intervalAt(fields.sequence, `${place}.sequence`),
    sequenceSeeds: seedsAt('sequence_seeds'),
    oracle: intervalAt(fields.oracle, `${place}.oracle`),
    oracleSeeds: seedsAt('oracle_seeds'),
  };
}

function intervalAt(value: unknown, place: string): Interval {
  const fields = fieldsOf(value, place, ['mean', 'low', 'high']);
  const boundAt = (key: string): number | null =>
    check(fields[key], `${place}.${key}`, 'a number or null', isBound);
  const mean: number = check(fields.mean, `${place}.mean`, 'a number from 0 to 1', isScore);
  const interval = { mean, low: boundAt('low'), high: boundAt('high') };
  if (isInterval(interval)) return interval;
  const { low, high } = interval;
  throw bad(place, `Expected low <= mean <= high, or null for both bounds, got ${low}, ${mean} and ${high}.`);
}

/** Returns the anchors of a built-in grader, 'v1', 'v2' or 'v3'; null for other graders. */
export function shippedAnchors(grader: string): GraderAnchors | null {
  const { version, worldDigest, sequenceSeeds, oracleSeeds, anchors } = MEASURED;
  if (!Object.hasOwn(anchors, grader)) return null;
  const intervalOf = ([mean, low, high]: readonly number[]): Interval => ({ mean, low, high });
  const scoresOf = (kind: ProfileKind): ScoreAnchors => {
    const { sequence, oracle } = anchors[grader as keyof typeof anchors][kind];
    return { sequence: intervalOf(sequence), sequenceSeeds, oracle: intervalOf(oracle), oracleSeeds };
  };
  return {
    ...{ grader, graderWeights: toGrader(grader).weights, version, worldDigest },
    anchors: { sampled: scoresOf('sampled'), discrete: scoresOf('discrete') },
  };
}
