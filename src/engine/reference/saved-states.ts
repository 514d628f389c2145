/**
 * Converts an episode's state to and from the words that snapshots, forks and other backends share (STATE_FIELDS), and replays saved
 * states to get their last steps.
 */

import {
  MODE,
  NUM_BELIEFS,
  NUM_COMPONENTS,
  NUM_METERS,
  PROFILE_SIZE,
  STATE,
  STATE_WORDS,
} from '../../world/fields.js';
import type { World } from '../../world/world.js';
import { HISTORY_STEPS, type HistoryStep } from '../observe/history.js';
import { Episode } from './episode.js';
import { startFrom } from './episode-state.js';

/** Returns views of row `index`, as words and as floats. */
function stateAt(rows: Uint32Array, index: number): { words: Uint32Array; floats: Float32Array } {
  const words = rows.subarray(index * STATE_WORDS, (index + 1) * STATE_WORDS);
  return { words, floats: new Float32Array(words.buffer, words.byteOffset, STATE_WORDS) };
}

/**
 * Writes an episode's state into row `index` of u32 [n, STATE_WORDS]. The state does not contain the last transition: event,
 * reward, deltas and anomalies.
 */
export function saveEpisode(episode: Episode, rows: Uint32Array, index: number): void {
  const { words, floats } = stateAt(rows, index);
  words[STATE.seed] = episode.seed;
  words[STATE.step] = episode.stepCount;
  words[STATE.mode] = episode.mode;
  floats.set(episode.meters, STATE.meters);
  floats.set(episode.profile, STATE.profile);
  floats[STATE.early] = episode.early;
  floats[STATE.late] = episode.late;
  floats[STATE.well] = episode.well;
  floats[STATE.skill] = episode.skill;
  floats[STATE.return] = episode.return;
  words[STATE.crashes] = episode.crashes;
  floats.set(episode.belief, STATE.belief);
  words[STATE.given] = Number(episode.given);
  words.set(episode.tape, STATE.tape);
  floats.set(episode.grader, STATE.grader);
  words[STATE.began] = episode.began;
  floats.set(episode.firstMeters, STATE.firstMeters);
}

/** Loads the state of row `index`. Replays its steps to get the last transition. */
export function loadEpisode(episode: Episode, rows: Uint32Array, index: number): void {
  const { words, floats } = stateAt(rows, index);
  replay(episode, words, floats);
  episode.meters.set(partOf(floats, STATE.meters, NUM_METERS));
  episode.early = floats[STATE.early];
  episode.late = floats[STATE.late];
  episode.well = floats[STATE.well];
  episode.skill = floats[STATE.skill];
  episode.return = floats[STATE.return];
  episode.crashes = words[STATE.crashes];
  episode.belief.set(partOf(floats, STATE.belief, NUM_BELIEFS));
  episode.given = words[STATE.given] === 1;
  if (episode.terminated) episode.finish();
}

const partOf = (floats: Float32Array, from: number, length: number): Float32Array =>
  floats.subarray(from, from + length);

/** Replays the steps of a state without their beliefs. The caller sets meters, sums, the crash count and the belief. */
function replay(episode: Episode, words: Uint32Array, floats: Float32Array): void {
  const profile = partOf(floats, STATE.profile, PROFILE_SIZE);
  const grader = partOf(floats, STATE.grader, NUM_COMPONENTS);
  const meters = partOf(floats, STATE.firstMeters, NUM_METERS);
  episode.begin(words[STATE.seed], MODE.given, profile, grader, startFrom(meters, words[STATE.began]));
  episode.mode = words[STATE.mode];
  for (let t = words[STATE.began]; t < words[STATE.step]; t++) {
    // The action of step t: four bits per action, eight actions per word.
    episode.applyStep((words[STATE.tape + (t >>> 3)] >>> (4 * (t & 7))) & 15, null);
  }
}

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
 * Implements `ReplayHistory`. The reward of the 28th step includes the terminal term.
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
