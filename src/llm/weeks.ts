/** Weeks played by a language model: many at once, each at its own pace, in slots of one environment. */
import { setMaxListeners } from 'node:events';
import { floatsOf, type Grader } from '../graders/grader.js';
import { Slots } from '../slots/slots.js';
import { type Prompt, prompt } from '../text/prompt.js';
import { SYSTEM } from '../text/system.js';
import type { Player, TrajectoryEpisode } from '../trajectory/episode.js';
import { type EpisodeEnd, EpisodeRecorder, endAt } from '../trajectory/episode-recorder.js';
import { playedFor } from '../trajectory/move.js';
import { checkInteger } from '../validate/values.js';
import type { StepResult } from '../vec-env/options.js';
import { NUM_STEPS, OBSERVATION_SIZE } from '../world/fields.js';
import { BudgetError, EndpointError } from './errors.js';
import { mostFor, type WeekAccount } from './ledger.js';
import type { LanguageModel } from './model.js';

export interface AskedWeek {
  readonly seed: number;
  /** 'sampled', 'discrete' or a profile's name. */
  readonly profileMode: string;
  readonly condition: string;
}

export interface AskOptions {
  readonly model: LanguageModel;
  readonly grader: Grader;
  /** Weeks at once, 1 to 1024; each has at most one request under way. */
  readonly concurrency: number;
  /** As the episodes call who plays. */
  readonly player: Player;
  readonly backend?: string;
  readonly kernel?: string;
  /** Of the steps. Default 1. */
  readonly threads?: number;
  readonly signal?: AbortSignal;
  /** Called after each step of a week. */
  readonly onStep?: () => void;
}

const MAX_CONCURRENCY = 1024;

/**
 * Plays weeks, at most `concurrency` at once, and yields each when it ends. The next begins in its place at once.
 * Where a week cannot be finished, or the money ends, no other is begun; those under way are finished and yielded if they
 * can be, and the error comes last. Where nothing can be asked any more, all end at once.
 * @throws EndpointError; BudgetError; InputError; the signal's reason, at once.
 */
export async function* askWeeks(
  weeks: Iterable<AskedWeek>,
  options: AskOptions,
): AsyncGenerator<TrajectoryEpisode> {
  const concurrency = checkInteger('concurrency', options.concurrency, 1, MAX_CONCURRENCY);
  const playground = new Playground(options, concurrency);
  const coming = weeks[Symbol.iterator]();
  const playing = new Set<Promise<Ended>>();
  let failure: Failure | null = null;
  const fill = (): void => {
    while (failure === null && playing.size < concurrency) {
      const next = coming.next();
      if (next.done) return;
      const week: Promise<Ended> = playground.play(next.value).then(
        (episode) => ({ week, episode }),
        (error) => ({ week, error }),
      );
      playing.add(week);
    }
  };
  try {
    for (fill(); playing.size > 0; ) {
      const ended = await Promise.race(playing);
      playing.delete(ended.week);
      if ('error' in ended) {
        failure ??= ended;
        if (!leavesOthers(ended.error)) playground.stop();
        continue;
      }
      fill();
      yield ended.episode;
    }
  } finally {
    playground.stop();
    await Promise.all(playing);
    playground.close();
  }
  if (failure !== null) throw (failure as Failure).error;
}

interface Failure {
  readonly week: Promise<Ended>;
  readonly error: unknown;
}
type Ended = Failure | { readonly week: Promise<Ended>; readonly episode: TrajectoryEpisode };

/** Whether weeks under way may still come to their end. */
const leavesOthers = (error: unknown): boolean =>
  error instanceof BudgetError || (error instanceof EndpointError && !error.lasting);

/** What a slot shows after a reset or a step. */
interface Shown {
  /** f32 [106], a copy: what prompts are made of. */
  readonly row: Float32Array;
  readonly reward: number;
  /** Null before the week's end. */
  readonly end: EpisodeEnd | null;
}

function readSlot(result: StepResult, slot: number): Shown {
  const { observations, finalMask, rewards } = result;
  const width = observations.length / finalMask.length;
  return {
    row: observations.slice(slot * width, (slot + 1) * width),
    reward: rewards[slot],
    end: finalMask[slot] === 0 ? null : endAt(result, slot),
  };
}

/** Where weeks are played. */
class Playground {
  readonly #options: AskOptions;
  readonly #slots: Slots;
  readonly #grader: Float32Array;
  readonly #stop = new AbortController();

  constructor(options: AskOptions, capacity: number) {
    const { backend, kernel, threads, grader, signal } = options;
    this.#options = options;
    this.#slots = new Slots({ capacity, backend, kernel, threads, observation: { history: true } });
    this.#grader = floatsOf(grader.weights);
    // Each request listens, and there are as many as weeks.
    setMaxListeners(0, this.#stop.signal);
    signal?.addEventListener('abort', this.#abort);
    if (signal?.aborted) this.#abort();
  }

  readonly #abort = (): void => this.#stop.abort(this.#options.signal?.reason);

  /** Ends all weeks under way, without their last steps. */
  stop(): void {
    this.#stop.abort();
  }

  close(): void {
    this.#options.signal?.removeEventListener('abort', this.#abort);
    this.#slots.close();
  }

  async play(week: AskedWeek): Promise<TrajectoryEpisode> {
    const account = await this.#account();
    const slot = this.#slots.claim()!;
    try {
      const episode = await this.#playIn(slot, week, account);
      account?.end(true);
      return episode;
    } catch (error) {
      account?.end(false);
      throw error;
    } finally {
      this.#slots.release(slot);
    }
  }

  #account(): Promise<WeekAccount> | undefined {
    const { ledger, sampling } = this.#options.model;
    this.#stop.signal.throwIfAborted();
    if (ledger === undefined) return undefined;
    const most =
      ledger.prices === null ? 0 : mostFor(ledger.prices, LONGEST_PROMPT, sampling?.max_tokens ?? 0);
    return ledger.beginWeek(most, this.#stop.signal);
  }

  async #playIn(slot: number, week: AskedWeek, account: WeekAccount | undefined): Promise<TrajectoryEpisode> {
    const { model, player, grader, onStep } = this.#options;
    const start = { ...week, player, grader, sampling: model.sampling };
    const recorder = new EpisodeRecorder(this.#slots.world, start);
    const begin = { seed: week.seed, profile: week.profileMode, grader: this.#grader };
    let shown = await this.#slots.reset(slot, begin, readSlot);
    for (let step = 0; step < NUM_STEPS; step++) {
      const { row } = shown;
      const played = await this.#ask(prompt(row));
      account?.paid(played.usage?.cost_usd ?? 0);
      const { action, belief } = played;
      shown = await this.#slots.step(slot, { code: action, belief }, readSlot);
      recorder.step(row.subarray(0, OBSERVATION_SIZE), played, shown.reward);
      onStep?.();
    }
    return recorder.end(shown.end!);
  }

  async #ask(asked: Prompt) {
    const { completion, reasoning, usage } = await this.#options.model.complete(asked, this.#stop.signal);
    return playedFor({ prompt: asked, completion, reasoning, usage });
  }
}

/** Bytes of a prompt with seven steps behind it, and then some. */
const LONGEST_PROMPT = Buffer.byteLength(SYSTEM) + 2048;
