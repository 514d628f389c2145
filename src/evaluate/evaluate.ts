/** Evaluation: every policy under every condition, streamed in constant memory. */

import { type Condition, episodesOf, profilesOf, seedsOf, selectConditions } from '../conditions.js';
import { type Grader, graderWeights, toGrader } from '../graders/grader.js';
import { checkInteger } from '../validate/values.js';
import type { VecEnvOptions } from '../vec-env/options.js';
import { othersTurn } from '../vec-env/turns.js';
import { type AnswerSummary, AskedWeeks } from './asked.js';
import { type AskedPolicy, isAsked, type Playing, selectPolicies } from './choosing.js';
import { playChunk, playedBy } from './chunk.js';
import { EnvOfSize } from './env-of-size.js';
import { checkEvaluateOptions, type EvaluateOptions, type Played } from './options.js';
import { isStepped } from './playing.js';
import { describeRun, type RunInfo } from './run-info.js';
import { type Summary, Tally } from './tally.js';
import { chunksOf } from './weeks.js';

export interface Evaluation extends RunInfo {
  /** Wall time. */
  readonly seconds: number;
  /** By condition, then by policy. */
  readonly rows: readonly EvaluationRow[];
}

export interface EvaluationRow extends Played, Summary, AnswerSummary {
  /** "0-99". */
  readonly seeds: string;
  /** 'sampled', 'discrete', a profile's name, or 'named' for the pool of the three named ones. */
  readonly profiles: string;
}

/** A chunk's states and outputs fit a cache, and the reference backend still answers a signal within a second. */
const CHUNK = 8192;
/** So that a policy that thinks about each step answers a signal, and shows its progress, within seconds. */
const SMALL_CHUNK = 128;
const MAX_CHUNK = 2 ** 20;
const DEFAULT_GRADER = 'v2';
/** Weeks of a language model at once, if nothing else is said. */
const CONCURRENCY = 4;

/**
 * Plays every policy under every condition and summarises final scores, paired wins against the heuristic and digests.
 * @throws InputError for options that name nothing known or do not go together, before anything is played;
 *   BackendError if the backend or kernel asked for cannot be used here; what a language model's `complete` throws.
 */
export async function evaluate(options: EvaluateOptions = {}): Promise<Evaluation> {
  checkEvaluateOptions(options);
  const run = new Run(options);
  const started = performance.now();
  using environments = new EnvOfSize(engineOf(options, run.grader));
  const info = describeRun(environments.of(1), run.grader);
  await options.onStart?.(info);
  await run.ask();
  const rows = await run.play(environments);
  options.signal?.throwIfAborted();
  return { ...info, seconds: (performance.now() - started) / 1000, rows };
}

function engineOf(
  { backend, kernel, threads, profiles }: EvaluateOptions,
  grader: Grader,
): Omit<VecEnvOptions, 'numEnvs'> {
  return { backend, kernel, threads, profiles, grader: graderWeights(grader) };
}

/** One evaluation under way. */
class Run {
  readonly grader: Grader;
  readonly #options: EvaluateOptions;
  readonly #conditions: readonly Condition[];
  readonly #policies: readonly Playing[];
  readonly #chunkSize: number;
  readonly #asked: ReadonlyMap<Playing, AskedWeeks>;
  /** Episodes, those of all policies together. */
  readonly #total: number;
  #done = 0;

  /** @throws InputError. */
  constructor(options: EvaluateOptions) {
    this.#options = options;
    this.#conditions = selectConditions(options);
    this.#policies = selectPolicies(options, this.#conditions);
    this.grader = toGrader(options.grader === undefined ? DEFAULT_GRADER : options.grader);
    const usual = options.onTrajectories || this.#policies.some(isStepped) ? SMALL_CHUNK : CHUNK;
    this.#chunkSize = checkInteger('chunkSize', options.chunkSize ?? usual, 1, MAX_CHUNK);
    const weeks = this.#conditions.reduce((sum, condition) => sum + episodesOf(condition), 0);
    this.#total = weeks * this.#policies.length;
    const entries = this.#policies.filter(isAsked).map((policy: AskedPolicy) => {
      return [policy, new AskedWeeks(policy.model, this.#conditions)] as const;
    });
    this.#asked = new Map<Playing, AskedWeeks>(entries);
  }

  /** Asks the language models, one after the other, for their weeks under all conditions. */
  async ask(): Promise<void> {
    for (const weeks of this.#asked.values()) {
      const before = this.#done;
      for await (const episodes of this.#weeksOf(weeks)) {
        if (episodes.length > 0) await this.#options.onTrajectories?.(episodes);
        this.#done = before + weeks.size;
        this.#tell();
      }
      this.#done = before + weeks.size;
    }
  }

  async *#weeksOf(weeks: AskedWeeks) {
    const { llm = { models: [] }, backend, kernel, signal } = this.#options;
    if (llm.played !== undefined) yield await weeks.take(llm.played, this.grader);
    const { concurrency = CONCURRENCY, onEpisode } = llm;
    yield* weeks.ask({ grader: this.grader, concurrency, backend, kernel, signal, onEpisode });
  }

  async play(environments: EnvOfSize): Promise<EvaluationRow[]> {
    const rows: EvaluationRow[] = [];
    for (const condition of this.#conditions) rows.push(...(await this.#rowsOf(condition, environments)));
    return rows;
  }

  async #rowsOf(condition: Condition, environments: EnvOfSize): Promise<EvaluationRow[]> {
    const { onEpisodes, onTrajectories, signal, backend, kernel, threads } = this.#options;
    const tallies = new Map(this.#policies.map((policy) => [policy, new Tally()]));
    const options = { grader: this.grader, backend, kernel, threads, signal };
    const last = this.#policies[this.#policies.length - 1];
    for (const weeks of chunksOf(condition, this.#chunkSize)) {
      signal?.throwIfAborted();
      const env = environments.of(weeks.seeds.length);
      const chunk = { condition: condition.name, weeks, recorded: onTrajectories !== undefined };
      for await (const { by, played, trajectories } of playChunk(env, chunk, tallies, this.#asked, options)) {
        await onEpisodes?.(played);
        // Whoever writes them lets signals in.
        signal?.throwIfAborted();
        if (isAsked(by)) continue;
        await onTrajectories?.(trajectories);
        this.#done += env.numEnvs;
        if (isStepped(by)) this.#tell();
      }
      if (!isStepped(last)) this.#tell();
      // Lets signals and timers in; without it a long run could not be interrupted.
      await othersTurn();
    }
    return Array.from(tallies, ([policy, tally]) => this.#rowOf(condition, policy, tally));
  }

  #rowOf(condition: Condition, policy: Playing, tally: Tally): EvaluationRow {
    return {
      condition: condition.name,
      ...playedBy(policy, this.grader.name),
      seeds: seedsOf(condition),
      profiles: profilesOf(condition),
      ...tally.summary(),
      ...(this.#asked.get(policy)?.summary(condition) ?? NOT_ASKED),
    };
  }

  #tell(): void {
    this.#options.onProgress?.(this.#done, this.#total);
  }
}

const NOT_ASKED: AnswerSummary = { unparsed: null, usage: null };
