/** Plays episodes with a language model: many at once, each at its own pace, in the environments of one pool. */
import { setMaxListeners } from 'node:events';
import { NODE } from '../../engine/backends/node.js';
import { isAsynchronous } from '../../engine/backends/open-batch.js';
import { floatsOf, type Grader } from '../../engine/graders/grader.js';
import type { StepResult } from '../../engine/vec-env/vec-env-options.js';
import { EpisodePool } from '../../rollouts/episode-pool.js';
import { Chat, type ChatTurns } from '../../rollouts/text/chat.js';
import { type Prompt, prompt } from '../../rollouts/text/prompt.js';
import { systemText } from '../../rollouts/text/prompt-text.js';
import {
  type EpisodeEnd,
  EpisodeRecorder,
  episodeEndAt,
} from '../../rollouts/trajectories/episode-recorder.js';
import { resolveMove } from '../../rollouts/trajectories/move.js';
import type { Player, Sampling, TrajectoryEpisode } from '../../rollouts/trajectories/trajectory-episode.js';
import { checkInteger } from '../../shared/values.js';
import { NUM_STEPS, OBSERVATION_SIZE } from '../../world/fields.js';
import { type Answer, type AnswerLog, EndpointError, type LanguageModel } from './language-model.js';
import { BudgetError, type EpisodeAccount, maxCostOf } from './ledger.js';

/** An episode to play. */
export interface EpisodeRequest {
  /** u32. */
  readonly seed: number;
  /** 'sampled', 'discrete' or a profile's name. */
  readonly profileMode: string;
  /** The name of the condition that the episode records. */
  readonly condition: string;
}

/** Options of `playEpisodes`. */
export interface PlayOptions {
  readonly model: LanguageModel;
  readonly grader: Grader;
  /** The maximum number of simultaneous episodes, 1 to 1024. Each has at most one pending request. */
  readonly concurrency: number;
  /** The player that the episodes record. */
  readonly player: Player;
  /** Keeps each answer as it comes, and has the answers of earlier runs, which are not requested again. Default: none. */
  readonly answers?: AnswerLog;
  /** As in `evaluate`. An asynchronous backend is replaced by the default backend, which computes the same bits. */
  readonly backend?: string;
  readonly kernel?: string;
  /** Threads of the environment. Default 1. */
  readonly threads?: number;
  readonly signal?: AbortSignal;
  /** Called after each step of an episode. */
  readonly onStep?: () => void;
}

const MAX_CONCURRENCY = 1024;

/**
 * Plays episodes, at most `concurrency` at once, and yields each when it ends.
 * After an error no other episode begins. If the budget is spent or a single request failed, unfinished episodes are
 * finished and yielded before the error is thrown. Any other error, such as a lasting failure of the endpoint, aborts them.
 * @throws EndpointError; BudgetError; InputError; the signal's reason, at once.
 */
export async function* playEpisodes(
  requests: Iterable<EpisodeRequest>,
  options: PlayOptions,
): AsyncGenerator<TrajectoryEpisode> {
  const concurrency = checkInteger('concurrency', options.concurrency, 1, MAX_CONCURRENCY);
  const player = new EpisodePlayer(options, concurrency);
  const queue = requests[Symbol.iterator]();
  const playing = new Set<Promise<Outcome>>();
  let failure: Failure | null = null;
  const fill = (): void => {
    while (failure === null && playing.size < concurrency) {
      const next = queue.next();
      if (next.done) return;
      const promise: Promise<Outcome> = player.play(next.value).then(
        (episode) => ({ promise, episode }),
        (error) => ({ promise, error }),
      );
      playing.add(promise);
    }
  };
  try {
    for (fill(); playing.size > 0; ) {
      const outcome = await Promise.race(playing);
      playing.delete(outcome.promise);
      if ('error' in outcome) {
        failure ??= outcome;
        if (!allowsOthers(outcome.error)) player.stop();
        continue;
      }
      fill();
      yield outcome.episode;
    }
  } finally {
    player.stop();
    await Promise.all(playing);
    player.close();
  }
  if (failure !== null) throw (failure as Failure).error;
}

/** An episode that failed. */
interface Failure {
  /** The promise of `playing` that resolved to this outcome. */
  readonly promise: Promise<Outcome>;
  readonly error: unknown;
}
/** The end of a played episode: its error, or the whole episode. */
type Outcome = Failure | { readonly promise: Promise<Outcome>; readonly episode: TrajectoryEpisode };

/** Returns whether unfinished episodes can continue after an error. */
const allowsOthers = (error: unknown): boolean =>
  error instanceof BudgetError || (error instanceof EndpointError && !error.lasting);

/** One environment's outputs after a reset or a step. */
interface EnvOutputs {
  /** f32 [106], a copy: the observation with its history, for prompts. */
  readonly row: Float32Array;
  readonly reward: number;
  /** Null before the episode's end. */
  readonly end: EpisodeEnd | null;
}

function readEnv(result: StepResult, env: number): EnvOutputs {
  const { observations, finalMask, rewards } = result;
  const width = observations.length / finalMask.length;
  return {
    row: observations.slice(env * width, (env + 1) * width),
    reward: rewards[env],
    end: finalMask[env] === 0 ? null : episodeEndAt(result, env),
  };
}

/** Plays episodes in a pool of environments. */
class EpisodePlayer {
  readonly #options: PlayOptions;
  readonly #pool: EpisodePool;
  readonly #grader: Float32Array;
  readonly #stop = new AbortController();

  constructor(options: PlayOptions, capacity: number) {
    const { kernel, threads, grader, signal } = options;
    // Episodes at their own pace are stepped on the processor: a device takes milliseconds for a step of any size.
    const backend = isAsynchronous(NODE, options.backend) ? undefined : options.backend;
    this.#options = options;
    this.#pool = new EpisodePool({ capacity, backend, kernel, threads, observation: { history: true } });
    this.#grader = floatsOf(grader.weights);
    // Every pending request adds a listener. 0 turns off Node's warning about many listeners.
    setMaxListeners(0, this.#stop.signal);
    signal?.addEventListener('abort', this.#abort);
    if (signal?.aborted) this.#abort();
  }

  readonly #abort = (): void => this.#stop.abort(this.#options.signal?.reason);

  /** Aborts all unfinished episodes. */
  stop(): void {
    this.#stop.abort();
  }

  close(): void {
    this.#options.signal?.removeEventListener('abort', this.#abort);
    this.#pool.close();
  }

  async play(request: EpisodeRequest): Promise<TrajectoryEpisode> {
    const account = await this.#account();
    const env = this.#pool.claim()!;
    try {
      const episode = await this.#playInEnv(env, request, account);
      account?.end(true);
      return episode;
    } catch (error) {
      account?.end(false);
      throw error;
    } finally {
      this.#pool.release(env);
    }
  }

  /** Begins an episode in the ledger. Returns undefined if the model has no ledger. */
  #account(): Promise<EpisodeAccount> | undefined {
    const { grader, model } = this.#options;
    const { ledger, sampling } = model;
    this.#stop.signal.throwIfAborted();
    if (ledger === undefined) return undefined;
    const maxRequestCost =
      ledger.prices === null
        ? 0
        : maxCostOf(ledger.prices, maxPromptBytes(grader, sampling), sampling?.max_tokens ?? 0);
    return ledger.beginEpisode(maxRequestCost, this.#stop.signal);
  }

  async #playInEnv(
    env: number,
    request: EpisodeRequest,
    account: EpisodeAccount | undefined,
  ): Promise<TrajectoryEpisode> {
    const { model, player, grader, onStep } = this.#options;
    const start = { ...request, player, grader, sampling: model.sampling };
    const recorder = new EpisodeRecorder(this.#pool.world, start);
    const form = model.sampling?.form;
    const chat = form === undefined ? null : new Chat(form, grader);
    const begin = { seed: request.seed, profile: request.profileMode, grader: this.#grader };
    let outputs = await this.#pool.reset(env, begin, readEnv);
    for (let step = 0; step < NUM_STEPS; step++) {
      const { row } = outputs;
      const observation = row.subarray(0, OBSERVATION_SIZE);
      const single = prompt(row, undefined, { grader });
      const played = await this.#nextMove(chat?.ask(observation) ?? single, single, request, step);
      chat?.answer(played.completion!);
      account?.addCost(played.usage?.cost_usd ?? 0);
      const { action, belief } = played;
      outputs = await this.#pool.step(env, { code: action, belief }, readEnv);
      recorder.step(observation, played, outputs.reward);
      onStep?.();
    }
    return recorder.end(outputs.end!);
  }

  /** Returns the answer to a chat. @param messages the prompt that the episode records, which is the same in all forms. */
  async #nextMove(chat: ChatTurns, messages: Prompt, { seed, profileMode }: EpisodeRequest, step: number) {
    const { model, answers } = this.#options;
    const key = `${model.name} ${profileMode} ${seed}`;
    const stored = answers?.get(key, step);
    const { completion, reasoning, usage } = stored ?? (await this.#ask(chat, key, step));
    return resolveMove({ prompt: messages, completion, reasoning, usage });
  }

  async #ask(chat: ChatTurns, key: string, step: number): Promise<Answer> {
    const { model, answers } = this.#options;
    const answer = await model.complete(chat, this.#stop.signal);
    await answers?.add(key, step, answer);
    return answer;
  }
}

/** A user message with a full history is shorter than this, in bytes. */
const MAX_USER_MESSAGE = 2048;

/**
 * Returns an upper bound on the tokens of a request. A message has no more tokens than bytes, and an answer no more than its limit,
 * and than a call's arguments.
 */
function maxPromptBytes(grader: Grader, sampling: Sampling | undefined): number {
  const system = Buffer.byteLength(systemText(grader));
  if (sampling?.form === undefined) return system + MAX_USER_MESSAGE;
  return system + NUM_STEPS * (MAX_USER_MESSAGE + sampling.max_tokens);
}
