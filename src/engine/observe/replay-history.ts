/** Replays an episode to get its last steps. */

import type { World } from '../../world/world.js';
import { Episode } from '../reference/episode.js';
import { loadEpisode } from '../reference/state-words.js';
import { HISTORY_STEPS, type HistoryStep } from './past-step.js';

/** A step: the action's code, and the belief (three finite numbers, or null for no belief). */
export interface LaterStep {
  readonly action: number;
  readonly belief: ArrayLike<number> | null;
}

/** An episode that records its steps. */
class RecordedEpisode extends Episode {
  readonly steps: HistoryStep[] = [];

  override applyStep(action: number, belief: ArrayLike<number> | null): void {
    super.applyStep(action, belief);
    this.steps.push(this.lastStep());
  }

  /** Returns the last step, with copies of its arrays. */
  lastStep(): HistoryStep {
    const { stepCount, event, reward } = this;
    const [meters, deltas, anomalies] = [this.meters.slice(), this.deltas.slice(), this.anomalies.slice()];
    return { step: stepCount - 1, action: this.lastAction, event, reward, meters, deltas, anomalies };
  }
}

/**
 * Returns the last steps of the episode of a saved state, the oldest first. The reward of the 28th step includes the
 * terminal term. Takes tens of microseconds.
 * @param imagination whether the episode uses the imagination streams. The state does not contain this.
 * @param words u32 [STATE_WORDS], as `Batch.save` writes them.
 * @param maxSteps the largest number of steps to return.
 * @param later the steps taken since the state was saved.
 */
export function replayHistory(
  world: World,
  imagination: boolean,
  words: Uint32Array,
  maxSteps = HISTORY_STEPS,
  later: readonly LaterStep[] = [],
): HistoryStep[] {
  const episode = new RecordedEpisode({ world, imagination });
  // Replays the past through `applyStep`, which records it.
  loadEpisode(episode, words, 0);
  for (const { action, belief } of later) episode.advance(action, belief);
  const { steps } = episode;
  // The terminal term was added to the last reward after its step was recorded.
  if (episode.terminated) steps[steps.length - 1] = episode.lastStep();
  return steps.slice(Math.max(0, steps.length - maxSteps));
}
