/** An episode's last steps, lived again: its seed, person and tape are all that they need. */
import { Episode } from '../reference/episode.js';
import { loadEpisode } from '../reference/state-words.js';
import type { World } from '../world/world.js';
import { HISTORY_STEPS, type HistoryStep } from './record.js';

/** An episode that notes each step that it lives. */
class NotedEpisode extends Episode {
  readonly steps: HistoryStep[] = [];

  override live(action: number): void {
    super.live(action);
    this.steps.push(this.note());
  }

  /** The step just lived, as the episode shows it now. */
  note(): HistoryStep {
    const { stepCount, event, reward } = this;
    const [meters, deltas, anomalies] = [this.meters.slice(), this.deltas.slice(), this.anomalies.slice()];
    return { step: stepCount - 1, action: this.lastAction, event, reward, meters, deltas, anomalies };
  }
}

/**
 * The last steps of the episode that a slot's state is in, the oldest first; the 28th with the grade's part of its
 * reward. About 10 microseconds.
 * @param imagination whose luck it is lived with. The state does not say under which it was lived before, so whoever
 *   asks must know.
 * @param words u32 [STATE_WORDS], as `Batch.save` writes them.
 * @param last how many at most, from 0 on.
 */
export function relive(
  world: World,
  imagination: boolean,
  words: Uint32Array,
  last = HISTORY_STEPS,
): HistoryStep[] {
  const episode = new NotedEpisode({ world, imagination });
  loadEpisode(episode, words, 0);
  const { steps } = episode;
  // Loading a finished episode grades it, which the last step's reward shows.
  if (episode.terminated) steps[steps.length - 1] = episode.note();
  return steps.slice(Math.max(0, steps.length - last));
}
