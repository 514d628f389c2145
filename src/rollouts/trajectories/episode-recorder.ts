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
import { type Person, personOf } from './hidden-profile.js';
import type { Played } from './move.js';
import { rewardsOf } from './step-rewards.js';
import type {
  Hidden,
  Player,
  Sampling,
  StoredBelief,
  StoredFinal,
  TrajectoryEpisode,
  TrajectoryStep,
  Usage,
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
  /** f32 [6]. */
  readonly components: ArrayLike<number>;
  readonly finalScore: number;
  readonly beliefMae: number;
  readonly firstHalfMean: number;
  readonly secondHalfMean: number;
}

/** Reads the results of environment i, whose episode has just ended. */
export const endAt = (result: StepResult, i: number): EpisodeEnd => ({
  components: result.components.slice(i * NUM_COMPONENTS, (i + 1) * NUM_COMPONENTS),
  finalScore: result.finalScores[i],
  beliefMae: result.beliefMae[i],
  firstHalfMean: result.firstHalfMeans[i],
  secondHalfMean: result.secondHalfMeans[i],
});

export class EpisodeRecorder {
  readonly #world: World;
  readonly #start: EpisodeStart;
  readonly #person: Person;
  readonly #steps: TrajectoryStep[] = [];
  #system: string | null = null;
  #usage: Usage | null = null;

  /** @throws InputError `unknown_name` for an unknown profile. */
  constructor(world: World, start: EpisodeStart) {
    this.#world = world;
    this.#start = start;
    this.#person = personOf(world, start.profileMode, start.seed);
  }

  /**
   * Records a step.
   * @param observation the 22 raw numbers before the step; later numbers are ignored.
   * @param reward the reward of the step.
   * @throws InputError `not_alike` if the system message changed; StateError `episode_over` after 28 steps.
   */
  step(observation: ArrayLike<number>, played: Played, reward: number): void {
    const step = this.#steps.length;
    if (step === NUM_STEPS) {
      throw new StateError(
        'episode_over',
        `Expected at most ${NUM_STEPS} steps, got one more. Begin an episode.`,
      );
    }
    this.#system = this.#systemWith(played);
    this.#usage = sumOfUsage(this.#usage, played.usage);
    const { prompt, completion, reasoning, belief, parsed } = played;
    this.#steps.push({
      step,
      observation: Array.from({ length: OBSERVATION_SIZE }, (_, k) => observation[k]),
      ...{ prompt, completion, reasoning },
      belief: belief && (Array.from(belief) as unknown as StoredBelief),
      action: ACTION_NAMES[played.action],
      parsed,
      reward,
      reward_components: rewardsOf(this.#world, played, reward, this.#person.target),
    });
  }

  #systemWith({ system }: Played): string | null {
    if (system === null || this.#system === null || system === this.#system) return system ?? this.#system;
    throw new InputError(
      'not_alike',
      `Expected the system message of the steps before, ${describe(this.#system)}, got ${describe(system)}. ` +
        'Ask with the same one in all steps of an episode.',
    );
  }

  /** Returns the episode. @throws StateError `episode_over` before 28 steps were recorded. */
  end(end: EpisodeEnd): TrajectoryEpisode {
    const steps = this.#steps;
    if (steps.length < NUM_STEPS) {
      throw new StateError(
        'episode_over',
        `Expected ${NUM_STEPS} steps before the end, got ${steps.length}. Record all of them first.`,
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
      final: finalOf(end),
      ...(this.#usage === null ? {} : { usage: this.#usage }),
      ...(sampling === undefined ? {} : { sampling }),
      hidden: hiddenOf(this.#person),
    };
  }
}

/** Converts the results to the keys of files. */
export const finalOf = ({ components, ...end }: EpisodeEnd): StoredFinal =>
  ({
    ...Object.fromEntries(COMPONENT_NAMES.map((name, k) => [name, components[k]])),
    belief_mae: end.beliefMae,
    early_mean: end.firstHalfMean,
    late_mean: end.secondHalfMean,
    final_score: end.finalScore,
  }) as unknown as StoredFinal;

/** Converts the hidden profile to the keys of files. */
export const hiddenOf = ({ profile, target }: Person): Hidden => ({
  profile: Array.from(profile),
  belief_target: Array.from(target),
});

/** Adds two usages key by key; null if both are unknown. */
export function sumOfUsage(sum: Usage | null, usage: Usage | null): Usage | null {
  if (sum === null || usage === null) return sum ?? usage;
  const entries = [...Object.entries(sum), ...Object.entries(usage)];
  const total: Record<string, number> = {};
  for (const [name, value] of entries) total[name] = (total[name] ?? 0) + value;
  return total;
}
