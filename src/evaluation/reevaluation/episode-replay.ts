/** Compares one stored episode with its replay, step by step. */
import type { Prompt } from '../../rollouts/text/prompt.js';
import {
  type EpisodeEnd,
  toStoredFinal,
  toStoredHidden,
} from '../../rollouts/trajectories/episode-recorder.js';
import { type HiddenProfile, hiddenProfileOf } from '../../rollouts/trajectories/hidden-profile.js';
import { type PlayedMove, reasoningIn, resolveMove } from '../../rollouts/trajectories/move.js';
import { storedRewardsOf } from '../../rollouts/trajectories/step-rewards.js';
import type { TrajectoryEpisode, TrajectoryStep } from '../../rollouts/trajectories/trajectory-episode.js';
import { ACTION_NAMES, NUM_BELIEFS, OBSERVATION_FIELDS, PROFILE_SIZE } from '../../world/fields.js';
import { createWorld } from '../../world/world.js';
import { Comparison } from './mismatch.js';

const named = (name: string, size: number): string[] =>
  size === 1 ? [name] : Array.from({ length: size }, (_, k) => `${name}[${k}]`);
const OBSERVATION_NAMES = OBSERVATION_FIELDS.flatMap(({ name, size }) => named(`observation.${name}`, size));
const PROFILE_NAMES = named('hidden.profile', PROFILE_SIZE);
const TARGET_NAMES = named('hidden.belief_target', NUM_BELIEFS);
const world = createWorld();

/** Returns the action code of a step. */
export const codeOf = ({ action }: TrajectoryStep): number => ACTION_NAMES.indexOf(action);

/** Compares one episode. Call compareObservation and compareReward for each step, then compareEnd. */
export class EpisodeReplay {
  readonly comparison = new Comparison();
  readonly #episode: TrajectoryEpisode;
  readonly #hidden: HiddenProfile;
  #system: string | null = null;
  /** Whether the current step has an action of the player, not the fallback. */
  #parsed = true;

  constructor(episode: TrajectoryEpisode) {
    this.#episode = episode;
    this.#hidden = hiddenProfileOf(world, episode.profile_mode, episode.seed);
  }

  /**
   * Compares step t's observation, prompt, action and belief.
   * @param rows observations; this episode's row begins at `base`. @param prompt the prompt of that row; null without
   *   prompts.
   */
  compareObservation(t: number, rows: Float32Array, base: number, prompt: Prompt | null): void {
    const { comparison } = this;
    const step = this.#episode.steps[t];
    comparison.step = t;
    comparison.sameNumbers(OBSERVATION_NAMES, step.observation, rows, base);
    if (step.prompt !== null && prompt !== null) {
      this.#system = prompt[0].content;
      comparison.sameText('prompt', step.prompt, prompt[1].content);
    }
    const played = recordedMove(step);
    this.#parsed = played.parsed;
    comparison.same('action', step.action, ACTION_NAMES[played.action]);
    comparison.same('parsed', step.parsed, played.parsed);
    comparison.same('belief', textOf(step.belief), textOf(played.belief));
    const reasoning = step.completion === null ? null : reasoningIn(step.completion);
    if (reasoning !== null) comparison.sameText('reasoning', step.reasoning, reasoning);
  }

  /** Compares step t's reward and its components. @param reward the recomputed reward. */
  compareReward(t: number, reward: number): void {
    const step = this.#episode.steps[t];
    const belief = step.belief && Float32Array.from(step.belief);
    const played = { action: codeOf(step), parsed: this.#parsed, belief };
    const components = storedRewardsOf(world, played, reward, this.#hidden.target);
    this.comparison.same('reward', step.reward, reward);
    this.comparison.sameObject('reward_components', step.reward_components, components);
  }

  /** Compares the system message, the grade and the hidden profile. */
  compareEnd(end: EpisodeEnd): void {
    const { comparison } = this;
    const { final, hidden, system } = this.#episode;
    comparison.step = null;
    if (system !== this.#system) comparison.sameText('system', system, this.#system);
    comparison.sameObject('final', final, toStoredFinal(end));
    if (hidden === undefined) return;
    const truth = toStoredHidden(this.#hidden);
    comparison.sameNumbers(PROFILE_NAMES, hidden.profile, truth.profile);
    comparison.sameNumbers(TARGET_NAMES, hidden.belief_target, truth.belief_target);
  }
}

/** Returns the action and belief of a step: parsed from its completion, or as recorded. */
function recordedMove(step: TrajectoryStep): Pick<PlayedMove, 'action' | 'parsed' | 'belief'> {
  const { completion, belief } = step;
  return resolveMove(
    completion === null ? { action: codeOf(step), belief } : { prompt: NO_PROMPT, completion },
  );
}

/** Parsing a completion does not depend on its prompt. */
const NO_PROMPT: Prompt = [
  { role: 'system', content: '' },
  { role: 'user', content: '' },
];

/** Formats a belief for a comparison. -0 stays -0. */
const textOf = (belief: ArrayLike<number> | null): string | null =>
  belief && `[${Array.from(belief, (value) => (Object.is(value, -0) ? '-0' : value)).join(', ')}]`;
