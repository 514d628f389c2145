/** The requests for crowds and the results of the engine's worker. */
import type { Bands } from '../../../src/figures/episode-means.js';
import type { Interval } from '../../../src/shared/statistics.js';

export interface CrowdRequest {
  readonly numEpisodes: number;
  /** u32: episode i has this seed plus i. */
  readonly seed: number;
  /** The names of one or two policies, which play the same episodes. */
  readonly policies: readonly string[];
  readonly grader: string;
  /** 'sampled', 'discrete' or a profile's name. */
  readonly profiles: string;
}

/** The mean and the histogram of final scores. */
export interface ScoreResult {
  readonly score: Interval;
  /** u32 [100]: episodes by final score, in bins of 0.01. */
  readonly counts: Uint32Array;
}

/** The statistics of one policy. */
export interface CrowdPolicy extends ScoreResult {
  readonly name: string;
  /** The means, by COMPONENT_NAMES. */
  readonly components: readonly number[];
  /** By COMPONENT_NAMES: each mean component times its weight. */
  readonly parts: readonly number[];
  /** Percentiles of the meters, of at most the first BAND_EPISODES episodes. */
  readonly bands: Bands;
  /** SHA-256, hexadecimal, of all final scores: float32, little-endian, in the order of the seeds. */
  readonly digest: string;
}

/** The comparison of two policies, episode by episode. */
export interface CrowdPairing {
  /** The score of the first policy minus that of the second. */
  readonly difference: Interval;
  /** Shares of the episodes in which the first policy scored more, and in which both scored the same. */
  readonly better: number;
  readonly same: number;
}

export interface Crowd {
  readonly request: CrowdRequest;
  /** The number of episodes in the statistics. It is smaller than requested while the crowd runs, and after a stop. */
  readonly numEpisodes: number;
  /** Whether all requested episodes were computed. */
  readonly complete: boolean;
  readonly policies: readonly CrowdPolicy[];
  /** Null for a single policy. */
  readonly pairing: CrowdPairing | null;
  /** The number of steps of all policies, and the time of all work: resets, steps, reading and counting the scores. */
  readonly steps: number;
  readonly seconds: number;
  readonly computedBy: ComputedBy;
}

/** What played the last people of a crowd. */
export interface ComputedBy {
  /** The name of the backend. */
  readonly backend: string;
  /** The graphics device, as the browser describes it; null without one. */
  readonly adapter: string | null;
  /** The number of workers, or 1 with a graphics device. */
  readonly lanes: number;
}

/**
 * The number of episodes, from the first on, whose meters are read at every step, for the bands. Scores and components are of
 * all episodes. With this number, the rank of a percentile has a standard error of at most 0.8 percentage points, which is
 * hardly visible in a picture. Four times as many would take half of the time of a crowd of 100,000.
 */
export const BAND_EPISODES = 4096;

export interface SequenceScores {
  /** 28 digits, codes of ACTION_NAMES. */
  readonly actions: string;
  /** The number of people so far. */
  readonly numPeople: number;
  /** By name of GRADER_NAMES. */
  readonly byGrader: Readonly<Record<string, ScoreResult>>;
}
