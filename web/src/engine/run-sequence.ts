/** Plays one action sequence with many people in the worker, and grades it by every grader. */
import { CONSTANT_BELIEF } from '../../../src/agents/policies/fixed-policies.js';
import { repeatActions } from '../../../src/agents/policies/open-loop.js';
import { yieldTurn } from '../../../src/engine/engine-calls.js';
import { regrade } from '../../../src/engine/graders/regrade.js';
import { Moments } from '../../../src/shared/statistics.js';
import { GRADER_NAMES } from '../../../src/world/fields.js';
import type { Report } from '../workers/calls.js';
import { createVecEnv } from '../workers/platform.js';
import { BINS, PEOPLE, type SequenceScores } from './requests.js';

/** The number of people who are played in one call. Chosen by hand: a new sequence waits for one call only. */
const PART = 1000;

/**
 * Returns the scores of an action sequence with the belief 0.5 about everybody. Reports the scores of the people so far.
 * @param actions 28 digits. @throws the signal's reason.
 */
export async function runSequence(
  actions: string,
  report: Report<SequenceScores>,
  signal: AbortSignal,
): Promise<SequenceScores> {
  using env = createVecEnv({ numEnvs: PART });
  const sequence = repeatActions(Array.from(actions, Number), PART);
  const tallies = GRADER_NAMES.map((grader) => new Tally(grader));
  for (let done = 0; ; ) {
    signal.throwIfAborted();
    env.reset({ seed: PEOPLE.first + done });
    const { components } = env.run(sequence, { beliefs: CONSTANT_BELIEF });
    for (const tally of tallies) tally.add(components);
    done += PART;
    const scores: SequenceScores = {
      actions,
      numPeople: done,
      byGrader: Object.fromEntries(tallies.map((tally) => [tally.grader, tally.scores()])),
    };
    if (done === PEOPLE.count) return scores;
    report({ done, total: PEOPLE.count }, scores);
    await yieldTurn();
  }
}

/** Collects the scores under one grader. */
class Tally {
  readonly grader: string;
  readonly #moments = new Moments();
  readonly #counts = new Uint32Array(BINS);

  constructor(grader: string) {
    this.grader = grader;
  }

  /** Adds the scores of n episodes. @param components f32 [n, 8]. */
  add(components: Float32Array): void {
    const scores = regrade(components, this.grader);
    this.#moments.addAll(scores);
    for (const score of scores) this.#counts[Math.min(BINS - 1, Math.floor(score * BINS))] += 1;
  }

  scores = () => ({ score: this.#moments.interval(), counts: this.#counts.slice() });
}
