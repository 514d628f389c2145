/** Plays one action sequence with many people in the worker, and grades it by every grader. */
import { CONSTANT_BELIEF } from '../../../src/agents/policies/fixed-policies.js';
import { repeatActions } from '../../../src/agents/policies/open-loop.js';
import { yieldTurn } from '../../../src/engine/engine-calls.js';
import { regrade } from '../../../src/engine/graders/regrade.js';
import { GRADER_NAMES } from '../../../src/world/fields.js';
import { PEOPLE } from '../sizes.js';
import type { Report } from '../workers/calls.js';
import { createVecEnv } from '../workers/platform.js';
import type { SequenceScores } from './requests.js';
import { ScoreStatistics } from './run-crowd.js';

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
  const statistics = GRADER_NAMES.map(() => new ScoreStatistics());
  for (let done = 0; ; ) {
    signal.throwIfAborted();
    env.reset({ seed: PEOPLE.first + done });
    const { components } = env.run(sequence, { beliefs: CONSTANT_BELIEF });
    for (const [k, each] of statistics.entries()) each.add(regrade(components, GRADER_NAMES[k]));
    done += PART;
    const scores: SequenceScores = {
      actions,
      numPeople: done,
      byGrader: Object.fromEntries(statistics.map((each, k) => [GRADER_NAMES[k], each.result()])),
    };
    if (done === PEOPLE.count) return scores;
    report({ done, total: PEOPLE.count }, scores);
    await yieldTurn();
  }
}
