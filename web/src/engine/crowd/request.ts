/** What a view asks about a crowd, and what it is told. */
import type { Interval } from '../../../../src/evaluate/statistics.js';
import type { Bands } from '../../../../src/pictures/percentiles.js';

export interface CrowdRequest {
  readonly people: number;
  /** u32: person i has this plus i. */
  readonly seed: number;
  /** One or two, by name: they live the weeks of the same people. */
  readonly policies: readonly string[];
  readonly grader: string;
  /** 'sampled', 'discrete' or a profile's name. */
  readonly persons: string;
}

/** What became of everybody under one policy. */
export interface CrowdPlayer {
  readonly name: string;
  readonly score: Interval;
  /** [6], in the order of COMPONENT_NAMES. */
  readonly components: readonly number[];
  /** [6]: the grader's weight times the mean component. */
  readonly parts: readonly number[];
  /** u32 [100]: how many final scores fell into each hundredth. */
  readonly counts: Uint32Array;
  /** Of the first people only: see BANDED. */
  readonly bands: Bands;
  /** SHA-256, hexadecimal, of all final scores: float32, little-endian, in the order of the seeds. */
  readonly digest: string;
}

/** The first policy beside the second, person by person. */
export interface CrowdPairing {
  /** The first's score minus the second's. */
  readonly difference: Interval;
  /** Shares of the people for whom the first was better, and for whom both were the same. */
  readonly better: number;
  readonly same: number;
}

export interface Crowd {
  readonly request: CrowdRequest;
  readonly players: readonly CrowdPlayer[];
  /** Null for one policy alone. */
  readonly pairing: CrowdPairing | null;
  /** Steps that were taken, and how long that took: people drawn, weeks lived, scores read back and counted. */
  readonly steps: number;
  readonly seconds: number;
}

/**
 * Of how many people, the first ones, every step is read back: the bands are of them, the scores of all. A percentile of so
 * many is within 0.4 of everybody's (one standard error), which a picture does not show; every step of a million
 * would be two gigabytes.
 */
export const BANDED = 16_384;

/** Bins of a histogram. */
export const BINS = 100;

/** The reference takes about as many people a second as this. */
export const MOST_ON_REFERENCE = 100_000;
