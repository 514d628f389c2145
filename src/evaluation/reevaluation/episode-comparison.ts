/** Compares one stored episode with its replay, step by step. */
import type { Prompt } from '../../rollouts/text/prompt.js';
import { systemText } from '../../rollouts/text/prompt-text.js';
import {
  type EpisodeEnd,
  toStoredFinal,
  toStoredHidden,
} from '../../rollouts/trajectories/episode-recorder.js';
import { type HiddenProfile, hiddenProfileOf } from '../../rollouts/trajectories/hidden-profile.js';
import { type PlayedMove, reasoningIn, resolveMove } from '../../rollouts/trajectories/move.js';
import { STORED_REWARDS, storedRewardsOf } from '../../rollouts/trajectories/step-rewards.js';
import type { TrajectoryEpisode, TrajectoryStep } from '../../rollouts/trajectories/trajectory-episode.js';
import { float32Decimal } from '../../shared/float32-decimal.js';
import { ACTION_NAMES, NUM_BELIEFS, OBSERVATION_FIELDS, PROFILE_SIZE } from '../../world/fields.js';
import { createWorld } from '../../world/world.js';
import { Comparison, type Mismatch } from './mismatch.js';

const named = (name: string, size: number): string[] =>
  size === 1 ? [name] : Array.from({ length: size }, (_, k) => `${name}[${k}]`);
const OBSERVATION_NAMES = OBSERVATION_FIELDS.flatMap(({ name, size }) => named(`observation.${name}`, size));
const PROFILE_NAMES = named('hidden.profile', PROFILE_SIZE);
const TARGET_NAMES = named('hidden.belief_target', NUM_BELIEFS);
const world = createWorld();

/** Returns the action code of a step. */
export const codeOf = ({ action }: TrajectoryStep): number => ACTION_NAMES.indexOf(action);

/** Compares one episode. Call compareStep and compareReward for each step, then compareEnd. */
export class EpisodeComparison {
  readonly #comparison = new Comparison();
  readonly #episode: TrajectoryEpisode;
  readonly #hidden: HiddenProfile;
  #hasPrompt = false;
  /** Whether the answer of the current step named an action; false if the fallback action was played. */
  #parsed = true;

  constructor(episode: TrajectoryEpisode) {
    this.#episode = episode;
    this.#hidden = hiddenProfileOf(world, episode.profile_mode, episode.seed);
  }

  /** The mismatches found so far. */
  get mismatches(): readonly Mismatch[] {
    return this.#comparison.mismatches;
  }

  /**
   * Compares step t's observation, prompt and answer: its action, belief and reasoning, and whether it was parsed.
   * @param rows observations; this episode's row begins at `base`. @param prompt the prompt of that row; null without
   *   prompts.
   */
  compareStep(t: number, rows: Float32Array, base: number, prompt: Prompt | null): void {
    const comparison = this.#comparison;
    const step = this.#episode.steps[t];
    comparison.step = t;
    comparison.compareNumbers(OBSERVATION_NAMES, step.observation, rows, base);
    if (step.prompt !== null && prompt !== null) {
      this.#hasPrompt = true;
      comparison.compareText('prompt', step.prompt, prompt[1].content);
    }
    const played = recordedMove(step);
    this.#parsed = played.parsed;
    comparison.compare('action', step.action, ACTION_NAMES[played.action]);
    comparison.compare('parsed', step.parsed, played.parsed);
    comparison.compare('belief', textOf(step.belief), textOf(played.belief));
    const reasoning = step.completion === null ? null : reasoningIn(step.completion);
    if (reasoning !== null) comparison.compareText('reasoning', step.reasoning, reasoning);
  }

  /** Compares step t's reward and its components. @param reward the recomputed reward. */
  compareReward(t: number, reward: number): void {
    const step = this.#episode.steps[t];
    const belief = step.belief && Float32Array.from(step.belief);
    const played = { action: codeOf(step), parsed: this.#parsed, belief };
    const rewards = storedRewardsOf(world, played, reward, this.#hidden.target);
    this.#comparison.compare('reward', step.reward, reward);
    for (const name of STORED_REWARDS) {
      this.#comparison.compare(`reward_components.${name}`, step.reward_components[name], rewards[name]);
    }
  }

  /** Compares the system message, the grade and the hidden profile. */
  compareEnd(end: EpisodeEnd): void {
    const comparison = this.#comparison;
    const { final, grader, hidden, system } = this.#episode;
    comparison.step = null;
    comparison.compareText('system', system, this.#hasPrompt ? systemText(grader) : null);
    comparison.compareObject('final', final, toStoredFinal(end));
    if (hidden === undefined) return;
    const truth = toStoredHidden(this.#hidden);
    comparison.compareNumbers(PROFILE_NAMES, hidden.profile, truth.profile);
    comparison.compareNumbers(TARGET_NAMES, hidden.belief_target, truth.belief_target);
  }
}

/** Returns the action and belief of a step: parsed from its completion, or as recorded. */
function recordedMove(step: TrajectoryStep): Pick<PlayedMove, 'action' | 'parsed' | 'belief'> {
  const { completion, belief } = step;
  return resolveMove(
    completion === null ? { action: codeOf(step), belief } : { prompt: NO_PROMPT, completion },
  );
}

/** An empty prompt. Parsing a completion does not depend on the prompt. */
const NO_PROMPT: Prompt = [
  { role: 'system', content: '' },
  { role: 'user', content: '' },
];

/** Formats a belief for a comparison. -0 stays -0. */
const textOf = (belief: ArrayLike<number> | null): string | null =>
  belief &&
  `[${Array.from(belief, (value) => (Object.is(value, -0) ? '-0' : float32Decimal(value))).join(', ')}]`;
