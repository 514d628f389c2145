/** The scores of one action sequence, which the engine's worker returns. */
import type { Interval } from '../../../../src/shared/statistics.js';

export { PEOPLE } from './people.js';

/** The final scores under one grader. */
export interface GraderScores {
  readonly score: Interval;
  /** u32 [BINS] (crowd-request.ts): people by final score; the bins divide [0, 1]. */
  readonly counts: Uint32Array;
}

export interface SequenceScores {
  /** 28 digits, codes of ACTION_NAMES. */
  readonly actions: string;
  /** The number of people so far. */
  readonly numPeople: number;
  /** By name of GRADER_NAMES. */
  readonly byGrader: Readonly<Record<string, GraderScores>>;
}
