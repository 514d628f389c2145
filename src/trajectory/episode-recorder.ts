/** One episode, noted while it is played. */
import { InputError, StateError } from '../errors.js';
import type { Grader } from '../graders/grader.js';
import { SCHEMAS } from '../schemas.js';
import { describe } from '../validate/values.js';
import type { StepResult } from '../vec-env/options.js';
import { packageVersion } from '../version.js';
import {
  ACTION_NAMES,
  COMPONENT_NAMES,
  NUM_COMPONENTS,
  NUM_STEPS,
  OBSERVATION_SIZE,
} from '../world/fields.js';
import type { World } from '../world/world.js';
import type {
  Hidden,
  Player,
  Sampling,
  StoredBelief,
  StoredFinal,
  TrajectoryEpisode,
  TrajectoryStep,
  Usage,
} from './episode.js';
import type { Played } from './move.js';
import { type Person, personOf } from './person.js';
import { rewardsOf } from './rewards.js';

/** What is known of an episode before its first step. */
export interface EpisodeStart {
  readonly player: Player;
  readonly condition: string;
  /** 'sampled', 'discrete' or a profile's name. */
  readonly profileMode: string;
  readonly seed: number;
  readonly grader: Grader;
  readonly sampling?: Sampling;
}

/** What an environment shows at an episode's end, of one slot. */
export interface EpisodeEnd {
  /** f32 [6]. */
  readonly components: ArrayLike<number>;
  readonly finalScore: number;
  readonly beliefMae: number;
  readonly earlyMean: number;
  readonly lateMean: number;
}

/** What a result shows of slot i, whose episode has just ended. */
export const endAt = (result: StepResult, i: number): EpisodeEnd => ({
  components: result.components.slice(i * NUM_COMPONENTS, (i + 1) * NUM_COMPONENTS),
  finalScore: result.finalScores[i],
  beliefMae: result.beliefMae[i],
  earlyMean: result.earlyMeans[i],
  lateMean: result.lateMeans[i],
});

export class EpisodeRecorder {
  readonly #world: World;
  readonly #start: EpisodeStart;
  readonly #person: Person;
  readonly #steps: TrajectoryStep[] = [];
  #system: string | null = null;
  #usage: Usage | null = null;

  /** @throws InputError `unknown_name` for a profile that is none. */
  constructor(world: World, start: EpisodeStart) {
    this.#world = world;
    this.#start = start;
    this.#person = personOf(world, start.profileMode, start.seed);
  }

  /**
   * Notes a step.
   * @param observation the 22 raw numbers seen before it; more after them are ignored. @param reward that was given for it.
   * @throws InputError `not_alike` for a system message that is not the one before; StateError `episode_over`.
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

  /** The episode. @throws StateError `episode_over` before its 28th step was noted. */
  end(end: EpisodeEnd): TrajectoryEpisode {
    const steps = this.#steps;
    if (steps.length < NUM_STEPS) {
      throw new StateError(
        'episode_over',
        `Expected ${NUM_STEPS} steps before the end, got ${steps.length}. Note all of them.`,
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

/** Numbers at the end, as files call them. */
export const finalOf = ({ components, ...end }: EpisodeEnd): StoredFinal =>
  ({
    ...Object.fromEntries(COMPONENT_NAMES.map((name, k) => [name, components[k]])),
    belief_mae: end.beliefMae,
    early_mean: end.earlyMean,
    late_mean: end.lateMean,
    final_score: end.finalScore,
  }) as unknown as StoredFinal;

/** Hidden numbers, as files call them. */
export const hiddenOf = ({ profile, target }: Person): Hidden => ({
  profile: Array.from(profile),
  belief_target: Array.from(target),
});

/** Both, key by key; null where nothing is known of either. */
export function sumOfUsage(sum: Usage | null, usage: Usage | null): Usage | null {
  if (sum === null || usage === null) return sum ?? usage;
  const entries = [...Object.entries(sum), ...Object.entries(usage)];
  const total: Record<string, number> = {};
  for (const [name, value] of entries) total[name] = (total[name] ?? 0) + value;
  return total;
}
