/** Records one episode while it is played. */

import type { Grader } from '../../engine/graders/grader.js';
import type { StepResult } from '../../engine/vec-env/vec-env-options.js';
import { InputError, StateError } from '../../shared/errors.js';
import { SCHEMAS } from '../../shared/schemas.js';
import { describe } from '../../shared/values.js';
import { packageVersion } from '../../shared/version.js';
import {
  ACTION_NAMES,
  COMPONENT_NAMES,
  NUM_COMPONENTS,
  NUM_STEPS,
  OBSERVATION_SIZE,
} from '../../world/fields.js';
import type { World } from '../../world/world.js';
import { type HiddenProfile, hiddenProfileOf } from './hidden-profile.js';
import type { PlayedMove } from './move.js';
import { storedRewardsOf } from './step-rewards.js';
import {
  type Hidden,
  type Player,
  type Sampling,
  type StoredBelief,
  type StoredFinal,
  type TrajectoryEpisode,
  type TrajectoryStep,
  USAGE_NAMES,
  type Usage,
} from './trajectory-episode.js';

/** An episode's description before its first step. */
export interface EpisodeStart {
  readonly player: Player;
  readonly condition: string;
  /** 'sampled', 'discrete' or a profile's name. */
  readonly profileMode: string;
  readonly seed: number;
  readonly grader: Grader;
  readonly sampling?: Sampling;
}

/** The results of an environment at its episode's end. */
export interface EpisodeEnd {
  /** f32 [8]: the components of the grade. */
  readonly components: ArrayLike<number>;
  readonly finalScore: number;
  readonly beliefMae: number;
  readonly firstHalfMean: number;
  readonly secondHalfMean: number;
}

/** Returns the results of environment i, whose episode has just ended. */
export const episodeEndAt = (result: StepResult, i: number): EpisodeEnd => ({
  components: result.components.slice(i * NUM_COMPONENTS, (i + 1) * NUM_COMPONENTS),
  finalScore: result.finalScores[i],
  beliefMae: result.beliefMae[i],
  firstHalfMean: result.firstHalfMeans[i],
  secondHalfMean: result.secondHalfMeans[i],
});

/** Collects the steps of one episode and returns it at its end. */
export class EpisodeRecorder {
  readonly #world: World;
  readonly #start: EpisodeStart;
  readonly #hidden: HiddenProfile;
  readonly #steps: TrajectoryStep[] = [];
  #system: string | null = null;
  #usage: Usage | null = null;

  /** Computes the hidden profile. @throws InputError `unknown_name` for an unknown profile. */
  constructor(world: World, start: EpisodeStart) {
    this.#world = world;
    this.#start = start;
    this.#hidden = hiddenProfileOf(world, start.profileMode, start.seed);
  }

  /**
   * Records a step.
   * @param observation the 22 raw numbers before the step; further numbers are ignored.
   * @param reward the reward of the step.
   * @throws InputError `not_alike` if the system message changed; StateError `episode_over` after 28 steps.
   */
  step(observation: ArrayLike<number>, played: PlayedMove, reward: number): void {
    const step = this.#steps.length;
    if (step === NUM_STEPS) {
      throw new StateError(
        'episode_over',
        `Expected at most ${NUM_STEPS} steps, got one more. Begin another episode.`,
      );
    }
    this.#system = this.#commonSystem(played);
    this.#usage = addUsage(this.#usage, played.usage);
    const { prompt, completion, reasoning, belief, parsed } = played;
    this.#steps.push({
      step,
      observation: Array.from({ length: OBSERVATION_SIZE }, (_, k) => observation[k]),
      ...{ prompt, completion, reasoning },
      belief: belief && (Array.from(belief) as unknown as StoredBelief),
      action: ACTION_NAMES[played.action],
      parsed,
      reward,
      reward_components: storedRewardsOf(this.#world, played, reward, this.#hidden.target),
    });
  }

  /** Returns the episode's system message; null until a move has one. */
  #commonSystem({ system }: PlayedMove): string | null {
    if (system === null || this.#system === null || system === this.#system) return system ?? this.#system;
    throw new InputError(
      'not_alike',
      `Expected the system message of the previous steps, ${describe(this.#system)}, got ${describe(system)}. ` +
        'Use one system message for the whole episode.',
    );
  }

  /** Returns the episode. @throws StateError `episode_over` if it ends too early: before 28 steps were recorded. */
  end(results: EpisodeEnd): TrajectoryEpisode {
    const steps = this.#steps;
    if (steps.length < NUM_STEPS) {
      throw new StateError(
        'episode_over',
        `Expected ${NUM_STEPS} steps before the end, got ${steps.length}. Record the other steps first.`,
      );
    }
    const { player, condition, profileMode, seed, grader, sampling } = this.#start;
    const { teacher, model, objective, oracle } = player;
    return {
      schema: SCHEMAS.trajectory,
      version: packageVersion(),
      world_digest: this.#world.digest,
      ...{ teacher, model, objective, oracle },
      ...{ condition, profile_mode: profileMode, seed },
      grader: { name: grader.name, weights: grader.weights },
      system: this.#system,
      steps,
      final: toStoredFinal(results),
      ...(this.#usage === null ? {} : { usage: this.#usage }),
      ...(sampling === undefined ? {} : { sampling }),
      hidden: toStoredHidden(this.#hidden),
    };
  }
}

/** Converts an episode's results to the field names of files. */
export const toStoredFinal = ({ components, ...end }: EpisodeEnd): StoredFinal =>
  ({
    ...Object.fromEntries(COMPONENT_NAMES.map((name, k) => [name, components[k]])),
    belief_mae: end.beliefMae,
    early_mean: end.firstHalfMean,
    late_mean: end.secondHalfMean,
    final_score: end.finalScore,
  }) as unknown as StoredFinal;

/** Converts a hidden profile to the field names of files. */
export const toStoredHidden = ({ profile, target }: HiddenProfile): Hidden => ({
  profile: Array.from(profile),
  belief_target: Array.from(target),
});

/** Adds two usages field by field. If one is null, returns the other. The sum has the fields in the order of files. */
export function addUsage(sum: Usage | null, usage: Usage | null): Usage | null {
  if (sum === null || usage === null) return sum ?? usage;
  const names = USAGE_NAMES.filter((name) => sum[name] !== undefined || usage[name] !== undefined);
  return Object.fromEntries(names.map((name) => [name, (sum[name] ?? 0) + (usage[name] ?? 0)]));
}
