/** One client's episodes, in one environment of the shared pool: resets, steps, and the tools of language models. */
import { z } from 'zod';
import type { StepResult } from '../engine/vec-env/vec-env-options.js';
import type { EpisodePool } from '../rollouts/episode-pool.js';
import { BELIEF_OF_DIGIT } from '../rollouts/text/parse-completions.js';
import { systemText, userText } from '../rollouts/text/prompt-text.js';
import TEXT from '../rollouts/text/text.json' with { type: 'json' };
import { FALLBACK_ACTION } from '../rollouts/trajectories/move.js';
import { ACTION_NAMES, NUM_BELIEFS, OBSERVATION_SIZE } from '../world/fields.js';
import { InvalidRequestError, parse } from './protocol/errors.js';
import { jsonSchema } from './protocol/json.js';
import {
  type Action,
  codeOf,
  type EpisodeRequest,
  RESET_SCHEMA,
  stateOf,
  toAction,
  toEpisodeRequest,
} from './protocol/messages.js';
import { gradeText, isOver, resetText, rewardText, stepsOf, stepText } from './protocol/observation.js';

const DIGIT = z.int().min(0).max(9).optional();
const NAMES = ACTION_NAMES.map((name) => name.toUpperCase());

/** The arguments of the tools. */
const ARGUMENTS = {
  start: z.strictObject({
    seed: RESET_SCHEMA.shape.seed,
    profile: RESET_SCHEMA.shape.profile,
    grader: RESET_SCHEMA.shape.grader,
  }),
  act: z.strictObject({
    // Other spellings are accepted, and unknown actions refused in words that help a model.
    action: z.string().meta({ enum: NAMES }),
    social: DIGIT.describe(TEXT.beliefs.social),
    morning: DIGIT.describe(TEXT.beliefs.morning),
    work: DIGIT.describe(TEXT.beliefs.work),
  }),
  grade: z.strictObject({}),
};
type ToolName = keyof typeof ARGUMENTS;

/** The tools, as MCP lists them. */
export const TOOLS = Object.entries(ARGUMENTS).map(([name, schema]) => ({
  name,
  description: TEXT.tools[name as ToolName],
  inputSchema: jsonSchema(schema),
}));

/** What a tool returns. */
export interface ToolResult {
  readonly text: string;
  /** Whether the call was refused; `text` then says why. Nothing has changed. */
  readonly isError: boolean;
  /** What the call pays, as JSON. */
  readonly reward: string;
  /** Whether the episode is over. */
  readonly done: boolean;
}

const refusal = (text: string, done: boolean): ToolResult => ({ text, isError: true, reward: 'null', done });

/** Thrown for a step without a running episode. */
export class NoEpisodeError extends Error {}
/** Thrown if the pool has no free environment. */
export class PoolFullError extends Error {}

export class EpisodeSession {
  readonly #pool: EpisodePool;
  readonly #envIndex: number;
  #episode: EpisodeRequest | null = null;
  #steps = 0;
  #over = false;
  /** Settles when the last call of a tool has ended. Requests over HTTP do not wait for the one before. */
  #lastCall: Promise<unknown> = Promise.resolve();
  /** The end of the observation with the grade; null before the episode is over. */
  #grade: string | null = null;
  /** The unfinished calls, and 1 until `end`. A call still steps the environment, so the last user releases it. */
  #users = 1;

  /** Claims an environment until `end` and the end of all calls. @throws PoolFullError. */
  constructor(pool: EpisodePool) {
    const envIndex = pool.claim();
    if (envIndex === null) {
      const text = `Expected fewer than ${pool.capacity} open sessions, got ${pool.taken}. Try again later, or raise --capacity.`;
      throw new PoolFullError(text);
    }
    this.#pool = pool;
    this.#envIndex = envIndex;
  }

  end(): void {
    this.#leave();
  }

  #leave(): void {
    this.#users--;
    if (this.#users === 0) this.#pool.release(this.#envIndex);
  }

  get state(): ReturnType<typeof stateOf> {
    return stateOf(this.#episode, this.#steps);
  }

  /** Begins an episode. @returns the result as JSON. @throws InvalidRequestError. */
  reset(data: unknown): Promise<string> {
    const request = toEpisodeRequest(data);
    return this.#begin(request, (outputs, env) => resetText(outputs, env, request.form, request.grader));
  }

  /** Takes a step. @param toAnswer converts the result, JSON. @throws InvalidRequestError, NoEpisodeError. */
  step<T>(data: unknown, toAnswer: (result: string) => T): Promise<T> {
    const action = toAction(data, this.#episode?.form.inText);
    const { form } = this.#running();
    return this.#play(action, (outputs, env) => toAnswer(stepText(outputs, env, form)));
  }

  /** Calls a tool, after all calls before. @returns null for an unknown name. */
  call(name: string, data: unknown): Promise<ToolResult | null> {
    this.#users++;
    const result = this.#lastCall.then(() => this.#call(name, data)).finally(() => this.#leave());
    this.#lastCall = result.catch(() => {});
    return result;
  }

  async #call(name: string, data: unknown): Promise<ToolResult | null> {
    if (!Object.hasOwn(ARGUMENTS, name)) return null;
    try {
      return await this.#tools[name as ToolName](data ?? {});
    } catch (error) {
      if (error instanceof NoEpisodeError) return refusal(`${error.message} Call start.`, this.#over);
      if (!(error instanceof InvalidRequestError)) throw error;
      return refusal(error.errors.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`).join(' '), this.#over);
    }
  }

  readonly #tools: Readonly<Record<ToolName, (data: unknown) => Promise<ToolResult>>> = {
    start: (data) => {
      const request = toEpisodeRequest(parse(ARGUMENTS.start, data));
      return this.#begin(request, (outputs, env) => ({
        text: `${systemText(request.grader, 'tools')}\n\n${promptText(outputs, env)}`,
        ...{ isError: false, reward: 'null', done: false },
      }));
    },
    act: (data) => {
      const { action, ...digits } = parse(ARGUMENTS.act, data);
      const code = codeOf(action.trim());
      if (code === undefined) return Promise.resolve(refusal(unknownAction(action), this.#over));
      const given = [digits.social, digits.morning, digits.work].filter((digit) => digit !== undefined);
      if (given.length % NUM_BELIEFS !== 0) return Promise.resolve(refusal(PART_OF_BELIEF, this.#over));
      const belief = given.length === 0 ? null : given.map((digit) => BELIEF_OF_DIGIT[digit]);
      const { form } = this.#running();
      return this.#play({ code, belief }, (outputs, env) => ({
        text: promptText(outputs, env),
        isError: false,
        reward: rewardText(outputs, env, form.reward),
        done: isOver(outputs, env),
      }));
    },
    grade: async () => {
      if (this.#episode === null) throw new NoEpisodeError(NOT_RESET);
      const { reward } = this.#episode.form;
      let paid = 0;
      while (!this.#over) {
        paid += Number(await this.#play(SLEEP, (outputs, env) => rewardText(outputs, env, reward)));
      }
      return { text: `{${this.#grade}`, isError: false, reward: String(paid), done: true };
    },
  };

  /** Returns the episode. @throws NoEpisodeError if none is running. */
  #running(): EpisodeRequest {
    if (this.#episode === null) throw new NoEpisodeError(NOT_RESET);
    if (this.#over) throw new NoEpisodeError(EPISODE_OVER);
    return this.#episode;
  }

  #begin<T>(request: EpisodeRequest, read: (outputs: StepResult, env: number) => T): Promise<T> {
    return this.#pool.reset(this.#envIndex, request, (outputs, env) => {
      this.#episode = request;
      this.#steps = 0;
      this.#over = false;
      return read(outputs, env);
    });
  }

  #play<T>(action: Action, read: (outputs: StepResult, env: number) => T): Promise<T> {
    return this.#pool.step(this.#envIndex, action, (outputs, env) => {
      this.#steps = stepsOf(outputs, env);
      this.#over = isOver(outputs, env);
      this.#grade = this.#over ? gradeText(outputs, env) : null;
      return read(outputs, env);
    });
  }
}

const SLEEP: Action = { code: ACTION_NAMES.indexOf(FALLBACK_ACTION), belief: null };
const NOT_RESET = 'Expected a reset before the first step, got none.';
const EPISODE_OVER = 'Expected a step of a running episode, got one after its last step.';
const PART_OF_BELIEF =
  'Expected social, morning and work together, got some of them. Pass all three, or none.';
const unknownAction = (name: string): string =>
  `Expected an action among ${NAMES.join(', ')}, got ${JSON.stringify(name.slice(0, 100))}. No slot has passed: call act again.`;

/** Returns the state and the last step as text. */
const promptText = ({ observations }: StepResult, env: number): string =>
  userText(observations, env * OBSERVATION_SIZE, 'new', 'tools');
