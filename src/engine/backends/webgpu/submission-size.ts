/**
 * Chooses the number of environments per submission from the times of earlier submissions, so that the driver's watchdog does
 * not end a submission.
 */

/** The first size: little work even for a software device. */
const FIRST_ENVS = 4096;
/** The minimum size. With fewer environments, the measured time is mostly overhead. */
const MIN_ENVS = 64;
/**
 * The largest factor of growth from one submission to the next. Chosen by hand: a larger one relies more on the time of a
 * small submission, a smaller one needs more submissions.
 */
const GROWTH = 8;
/** More environments than any batch has. */
const MAX_ENVS = 2 ** 30;

/** The size of the next submission of a batch. */
export class SubmissionSize {
  readonly #maxMs: number;
  #envs = FIRST_ENVS;
  /** Whether a submission of full size, of `#envs` environments at that time, was measured. The last one may be smaller. */
  #isMeasured = false;

  /** @param maxMs the longest time of a submission, in milliseconds. */
  constructor(maxMs: number) {
    this.#maxMs = maxMs;
  }

  /** Returns the number of environments of the next submission, at most `left`, and whether to measure its time. */
  next(left: number): { readonly envs: number; readonly measure: boolean } {
    const envs = Math.min(left, this.#envs);
    return { envs, measure: !this.#isMeasured || envs < left };
  }

  /** Records the time of a measured submission, and adjusts the size. */
  record(envs: number, ms: number): void {
    // Aims at half of the maximum, because the next environments may take longer. A time of 0 counts as a microsecond.
    const fitting = Math.floor((envs * this.#maxMs) / Math.max(ms, 1e-3) / 2);
    this.#isMeasured = envs >= this.#envs || this.#isMeasured;
    this.#envs = Math.max(MIN_ENVS, Math.min(fitting, envs * GROWTH, MAX_ENVS));
  }
}
