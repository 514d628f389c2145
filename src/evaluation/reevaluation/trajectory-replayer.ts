/** Replays stored episodes in batches and compares every number with the stored number. */
import type { Env } from '../../engine/node.js';
import type { StepResult } from '../../engine/vec-env/vec-env-options.js';
import { ResizableAnyEnv } from '../../rollouts/resizable-env.js';
import type { Prompt } from '../../rollouts/text/prompt.js';
import { systemText } from '../../rollouts/text/prompt-text.js';
import {
  type EpisodeEnd,
  episodeEndAt,
  toStoredFinal,
  toStoredHidden,
} from '../../rollouts/trajectories/episode-recorder.js';
import { type ReplayEngine, replayMoves } from '../../rollouts/trajectories/episode-replayer.js';
import { type PlayedMove, reasoningIn, resolveMove } from '../../rollouts/trajectories/move.js';
import {
  type HiddenProfile,
  hiddenProfileOf,
  type TrajectoryEpisode,
  type TrajectoryStep,
} from '../../rollouts/trajectories/trajectory-episode.js';
import { STORED_REWARDS, storedRewardsOf } from '../../rollouts/trajectories/trajectory-lines.js';
import { float32Decimal } from '../../shared/float32-decimal.js';
import { ACTION_NAMES, NUM_BELIEFS, OBSERVATION_FIELDS, PROFILE_SIZE } from '../../world/fields.js';
import { createWorld } from '../../world/world.js';
import { copyOf, type Graded } from '../play-policy.js';

/** The results of a replay, newly allocated. */
export interface Replayed extends Graded {
  /** [n]: mismatches of each episode. */
  readonly mismatches: readonly (readonly Mismatch[])[];
}

/** Environments of `TrajectoryReplayer.env`: enough that the default kernel is the one that replays. */
const DESCRIBED_ENVS = 16;

/** Replays the recorded actions and beliefs of episodes in batches. */
export class TrajectoryReplayer implements AsyncDisposable {
  readonly #envs: ResizableAnyEnv;
  /** An environment with the replay's backend, kernel and threads, for `describeRun`. */
  readonly env: Env;

  private constructor(envs: ResizableAnyEnv, env: Env) {
    this.#envs = envs;
    this.env = env;
  }

  /** Opens an environment, to report a missing backend before any file is read. @throws as `createVecEnv`. */
  static async open({ backend, kernel, threads }: ReplayEngine): Promise<TrajectoryReplayer> {
    const envs = new ResizableAnyEnv({ backend, kernel, threads, observation: { history: true } });
    return new TrajectoryReplayer(envs, await envs.of(DESCRIBED_ENVS));
  }

  /** Replays episodes. @param episodes at least one. @throws as `createVecEnv`. */
  async replay(episodes: readonly TrajectoryEpisode[]): Promise<Replayed> {
    const env = await this.#envs.of(episodes.length);
    const comparisons = episodes.map((episode) => new EpisodeComparison(episode));
    const moveAt = ({ steps }: TrajectoryEpisode, t: number) => ({
      ...steps[t],
      hasPrompt: steps[t].prompt !== null,
    });
    let end: StepResult | null = null;
    for await (const { rows, prompts, result } of replayMoves(env, episodes, moveAt)) {
      for (const [i, comparison] of comparisons.entries()) {
        comparison.compareStep(rows[i], prompts?.[i] ?? null);
        comparison.compareReward(result.rewards[i]);
      }
      end = result;
    }
    for (const [i, comparison] of comparisons.entries()) comparison.compareEnd(episodeEndAt(end!, i));
    return { mismatches: comparisons.map(({ mismatches }) => mismatches), ...copyOf(end!) };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#envs[Symbol.asyncDispose]();
  }
}

const named = (name: string, size: number): string[] =>
  size === 1 ? [name] : Array.from({ length: size }, (_, k) => `${name}[${k}]`);
const OBSERVATION_NAMES = OBSERVATION_FIELDS.flatMap(({ name, size }) => named(`observation.${name}`, size));
const PROFILE_NAMES = named('hidden.profile', PROFILE_SIZE);
const TARGET_NAMES = named('hidden.belief_target', NUM_BELIEFS);
const world = createWorld();

/** Returns the action code of a step. */
const codeOf = ({ action }: TrajectoryStep): number => ACTION_NAMES.indexOf(action);

/** Compares one episode. Call compareStep and compareReward for each step, then compareEnd. */
class EpisodeComparison {
  /** The mismatches found so far. */
  readonly mismatches: Mismatch[] = [];
  readonly #episode: TrajectoryEpisode;
  readonly #hidden: HiddenProfile;
  /** The step whose fields are compared; null for fields outside steps. */
  #step: number | null = null;
  #hasPrompt = false;
  /** Whether the answer of the current step named an action; false if the fallback action was played. */
  #parsed = true;

  constructor(episode: TrajectoryEpisode) {
    this.#episode = episode;
    this.#hidden = hiddenProfileOf(world, episode.profile_mode, episode.seed);
  }

  /**
   * Compares the next step's observation, prompt and answer: its action, belief and reasoning, and whether it was parsed.
   * @param row the observation. @param prompt the prompt of this observation; null without prompts.
   */
  compareStep(row: Float32Array, prompt: Prompt | null): void {
    this.#step = this.#step === null ? 0 : this.#step + 1;
    const step = this.#episode.steps[this.#step];
    this.#compareNumbers(OBSERVATION_NAMES, step.observation, row);
    if (step.prompt !== null && prompt !== null) {
      this.#hasPrompt = true;
      this.#compareText('prompt', step.prompt, prompt[1].content);
    }
    const played = recordedMove(step);
    this.#parsed = played.parsed;
    this.#compare('action', step.action, ACTION_NAMES[played.action]);
    this.#compare('parsed', step.parsed, played.parsed);
    this.#compare('belief', textOf(step.belief), textOf(played.belief));
    const reasoning = step.completion === null ? null : reasoningIn(step.completion);
    if (reasoning !== null) this.#compareText('reasoning', step.reasoning, reasoning);
  }

  /** Compares the step's reward and its components. @param reward the recomputed reward. */
  compareReward(reward: number): void {
    const step = this.#episode.steps[this.#step!];
    const belief = step.belief && Float32Array.from(step.belief);
    const played = { action: codeOf(step), parsed: this.#parsed, belief };
    const rewards = storedRewardsOf(world, played, reward, this.#hidden.target);
    this.#compare('reward', step.reward, reward);
    for (const name of STORED_REWARDS) {
      this.#compare(`reward_components.${name}`, step.reward_components[name], rewards[name]);
    }
  }

  /** Compares the system message, the grade and the hidden profile. */
  compareEnd(end: EpisodeEnd): void {
    const { final, grader, hidden, system } = this.#episode;
    this.#step = null;
    this.#compareText('system', system, this.#hasPrompt ? systemText(grader) : null);
    for (const [key, value] of Object.entries(toStoredFinal(end)))
      this.#compare(`final.${key}`, final[key as keyof typeof final], value);
    if (hidden === undefined) return;
    const truth = toStoredHidden(this.#hidden);
    this.#compareNumbers(PROFILE_NAMES, hidden.profile, truth.profile);
    this.#compareNumbers(TARGET_NAMES, hidden.belief_target, truth.belief_target);
  }

  /** Compares values exactly: -0 differs from 0. */
  #compare(field: string, recorded: StoredValue, recomputed: StoredValue): void {
    if (Object.is(recorded, recomputed)) return;
    const mismatch = { recorded: withDecimal(recorded), recomputed: withDecimal(recomputed) };
    this.mismatches.push({ step: this.#step, field, ...mismatch });
  }

  /** Compares texts. A mismatch has an excerpt around the first difference. */
  #compareText(field: string, recorded: string | null, recomputed: string | null): void {
    if (recorded === recomputed) return;
    const from = Math.max(0, firstDifference(recorded ?? '', recomputed ?? '') - BEFORE);
    const excerpt = (text: string | null) =>
      text && `${from > 0 ? '...' : ''}${text.slice(from, from + EXCERPT)}`;
    this.#compare(field, excerpt(recorded), excerpt(recomputed));
  }

  /** Compares the first numbers. @param names [n]: their fields. */
  #compareNumbers(
    names: readonly string[],
    recorded: readonly number[],
    recomputed: ArrayLike<number>,
  ): void {
    for (const [k, name] of names.entries()) this.#compare(name, recorded[k], recomputed[k]);
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

/** A value of a stored episode. */
export type StoredValue = string | number | boolean | null;

/** A field whose stored value differs from the recomputed value. */
export interface Mismatch {
  /** The step; null for fields outside steps. */
  readonly step: number | null;
  /** "observation.meters[2]", "final.progress", ... */
  readonly field: string;
  readonly recorded: StoredValue;
  readonly recomputed: StoredValue;
}

/** Formats the place of a mismatch: "step 4, reward", "final.progress". */
export const whereOf = ({ step, field }: Mismatch): string =>
  step === null ? field : `step ${step}, ${field}`;

/** Returns a float32 as its shortest decimal, and other values unchanged. */
const withDecimal = (value: StoredValue): StoredValue =>
  typeof value === 'number' ? float32Decimal(value) : value;

/** The maximum length of an excerpt in characters, without the dots before it. Chosen by hand, to keep lines short. */
const EXCERPT = 60;
/** The number of characters of an excerpt before the first difference. Chosen by hand. */
const BEFORE = 20;

function firstDifference(a: string, b: string): number {
  let at = 0;
  while (at < a.length && at < b.length && a[at] === b[at]) at++;
  return at;
}
