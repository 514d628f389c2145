/** Chooses the number of environments of a submission by the time of earlier ones, so that no watchdog ends it. */

/** Environments of the first submission, when no time is known: little work even for a software device. */
const FIRST = 4096;
/** The fewest environments of a submission. With fewer, the measured time is mostly overhead. */
const LEAST = 64;
/** The largest growth from one submission to the next. */
const GROWTH = 8;

export class SubmissionSize {
  readonly #maxMs: number;
  #envs = FIRST;
  #sure = false;

  /** @param maxMs the longest time of a submission, in milliseconds. */
  constructor(maxMs: number) {
    this.#maxMs = maxMs;
  }

  /** Returns the number of environments of the next submission, at most `left`, and whether to measure its time. */
  next(left: number): { readonly envs: number; readonly measure: boolean } {
    const envs = Math.min(left, this.#envs);
    return { envs, measure: !this.#sure || envs < left };
  }

  /** Notes the time of a measured submission. */
  took(envs: number, ms: number): void {
    const fitting = Math.floor((envs * this.#maxMs) / Math.max(ms, 1e-3) / 2);
    this.#sure = envs >= this.#envs || this.#sure;
    this.#envs = Math.max(LEAST, Math.min(fitting, envs * GROWTH, 2 ** 30));
  }
}
