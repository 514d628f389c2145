/** The computation of `Planner` and `AsyncPlanner`: infers the profile, imagines episodes, and plans again at each step. */
import type { OpenBatch } from '../../engine/backends/open-batch.js';
import type { EngineCalls } from '../../engine/engine-calls.js';
import { StateError } from '../../shared/errors.js';
import { checkInteger } from '../../shared/values.js';
import {
  NUM_ACTIONS,
  NUM_BELIEFS,
  NUM_METERS,
  NUM_STEPS,
  NUM_TRAITS,
  PROFILE_SIZE,
} from '../../world/fields.js';
import { checkObservations } from '../inference/inference.js';
import { errorCountedBy } from '../inference/samples.js';
import { type BeliefState, openBeliefState } from './belief-state.js';
import { EpisodeSums } from './episode-sums.js';
import { Imagination } from './imagination.js';
import { valuePerBeliefError } from './objectives.js';
import type { Explanation, PlanOutlook, PlanReport } from './plan-report.js';
import { type Choice, maxSequencesOf, openLoopSequencesUnder, searchPlans } from './plan-search.js';
import type { PlannerRequest } from './planner-options.js';

/** The planner's actions and beliefs for a step. An episode that does not play has action 0 and its last belief. */
export interface Decision {
  /** u8 [numEnvs]: codes. Newly allocated. */
  readonly actions: Uint8Array;
  /** f32 [numEnvs, 3]. Newly allocated. */
  readonly beliefs: Float32Array;
}

/** The maximum number of episodes searched together: enough for all threads, with little memory. */
const MAX_TOGETHER = 256;

/** The posterior samples of a step, and what each action is expected to reveal. */
interface Step {
  /** f32 [numEnvs, samples, 16]. */
  readonly profiles: Float32Array;
  /** f64 [numEnvs, 10]: the expected reduction of the stated belief's error by each action. */
  readonly errorReductions: Float64Array;
}

/** What `Planner` and `AsyncPlanner` share. The generators are computations for `runSync` and `runAsync` (engine-calls.ts). */
export class PlannerCore {
  readonly #request: PlannerRequest;
  readonly #sums: EpisodeSums;
  readonly #beliefState: BeliefState;
  readonly #imagination: Imagination;
  /** The last choice for each episode; null before the first. */
  readonly #choices: (Choice | null)[];
  readonly #openLoop: readonly Uint8Array[];
  #lastStep: Step | null = null;
  #closed = false;

  private constructor(request: PlannerRequest, beliefState: BeliefState, imagination: Imagination) {
    const { numEnvs, world } = request;
    this.#request = request;
    this.#sums = new EpisodeSums(numEnvs, world.params);
    this.#beliefState = beliefState;
    this.#choices = Array(numEnvs).fill(null);
    this.#openLoop = openLoopSequencesUnder(request.grader);
    this.#imagination = imagination;
  }

  /** Opens a planner. @param openBatch opens the batches of imagined episodes. */
  static *open(request: PlannerRequest, openBatch: OpenBatch): EngineCalls<PlannerCore> {
    const { numEnvs, budget } = request;
    const numProblems = Math.min(numEnvs, MAX_TOGETHER);
    const beliefState = openBeliefState(request);
    const sizes = { numProblems, numStarts: budget.samples, maxSequences: maxSequencesOf(budget) };
    const imagination = yield* Imagination.open({ ...request, ...sizes }, openBatch);
    return new PlannerCore(request, beliefState, imagination);
  }

  /** Computes `Planner.decide`. */
  *decide(observations: Float32Array, playing?: Uint8Array): EngineCalls<Decision> {
    this.#requireOpen();
    checkObservations(observations, playing ?? null, this.#request.numEnvs);
    const mask = playing ?? new Uint8Array(this.#request.numEnvs).fill(1);
    this.#sums.record(observations, mask);
    this.#beliefState.observe(observations, mask);
    const beliefs = this.#beliefState.beliefs();
    this.#sums.recordBeliefs(beliefs, mask);
    const profiles = this.#beliefState.posteriorSamples(this.#request.budget.samples);
    this.#lastStep = { profiles, errorReductions: this.#errorReductions() };
    const twins = this.#twins(mask, this.#lastStep);
    // An episode that takes the result of another is not searched.
    for (const { step, episodes } of this.#searchedTogether(
      mask.map((plays, i) => plays & Number(twins[i] === i)),
    )) {
      const choices = yield* this.#searchStep(step, episodes, this.#lastStep);
      episodes.forEach((i, k) => {
        this.#choices[i] = choices[k];
      });
    }
    const actions = new Uint8Array(this.#request.numEnvs);
    for (let i = 0; i < actions.length; i++) {
      if (mask[i] === 0) continue;
      this.#choices[i] = this.#choices[twins[i]];
      actions[i] = this.#choices[i]!.action;
    }
    return { actions, beliefs };
  }

  /**
   * Returns for each episode the index of the episode whose search result it takes. A playing episode at step 0 takes the
   * result of the first such episode if the samples, error reductions, meters and beliefs of the two are equal. Every other
   * episode takes its own result.
   */
  #twins(playing: Uint8Array, { profiles, errorReductions }: Step): Uint32Array {
    const { steps, meters, beliefs } = this.#sums;
    const { samples } = this.#request.budget;
    const isAtStart = (i: number): boolean => playing[i] !== 0 && steps[i] === 0;
    const first = playing.findIndex((_, i) => isAtStart(i));
    return Uint32Array.from(playing, (_, i) =>
      isAtStart(i) &&
      sameRows(profiles, samples * PROFILE_SIZE, first, i) &&
      sameRows(errorReductions, NUM_ACTIONS, first, i) &&
      sameRows(meters, NUM_METERS, first, i) &&
      sameRows(beliefs, NUM_BELIEFS, first, i)
        ? first
        : i,
    );
  }

  *#searchStep(
    step: number,
    episodes: readonly number[],
    { profiles, errorReductions }: Step,
  ): EngineCalls<Choice[]> {
    const { budget, seed } = this.#request;
    this.#imagination.begin(step, episodes, this.#sums, profiles);
    const kept = episodes.map((i) => (step === 0 ? null : (this.#choices[i]?.sequences ?? null)));
    const worth = this.#worthOfError(step);
    const informationValues = episodes.map((i) =>
      errorReductions.slice(i * NUM_ACTIONS, (i + 1) * NUM_ACTIONS).map((reduction) => reduction * worth),
    );
    return yield* searchPlans(this.#imagination, budget, seed, step, kept, informationValues, this.#openLoop);
  }

  /** Returns what a reduction of the belief error by 1 is worth, in units of the objective. */
  #worthOfError(step: number): number {
    const { curiosity, objective, grader, world } = this.#request;
    return curiosity * valuePerBeliefError(objective, grader, world.params, step);
  }

  /** Returns the `errorReductions` of this step; zeros if observations change no belief, or a reduction is worth nothing. */
  #errorReductions(): Float64Array {
    const beliefState = this.#beliefState;
    return beliefState.probeValues === undefined || this.#worthOfError(0) === 0
      ? new Float64Array(this.#request.numEnvs * NUM_ACTIONS)
      : Float64Array.from(beliefState.probeValues());
  }

  /** Computes `Planner.report`. */
  *report(i: number): EngineCalls<PlanReport> {
    const { choice, lastStep } = this.#lastDecision(i);
    const step = this.#sums.steps[i];
    const { action, rivalAction } = choice;
    const plan = yield* this.#outlook(i, action, choice, lastStep);
    const rival = yield* this.#outlook(i, rivalAction, choice, lastStep);
    const { objective, grader, budget } = this.#request;
    return {
      step,
      plan,
      rival,
      objective,
      grader,
      meters: this.#sums.meters.slice(i * NUM_METERS, (i + 1) * NUM_METERS),
      weights: meanWeights(lastStep.profiles, i, budget.samples),
      loss: choice.values[action] - choice.values[rivalAction],
      curiosity: (plan.errorReduction - rival.errorReduction) * this.#worthOfError(step),
    };
  }

  /** Evaluates the best plan of episode i that begins with the action `first`. */
  *#outlook(
    i: number,
    first: number,
    { best }: Choice,
    { profiles, errorReductions }: Step,
  ): EngineCalls<PlanOutlook> {
    const step = this.#sums.steps[i];
    const actions = best.slice(first * NUM_STEPS, (first + 1) * NUM_STEPS);
    const errorReduction = errorReductions[i * NUM_ACTIONS + first];
    const outlook = yield* this.#imagination.evaluate(actions, step, i, this.#sums, profiles);
    return { ...outlook, actions: Array.from(actions.subarray(step)), errorReduction };
  }

  /** Computes the numbers behind `Planner.reasons`. */
  *explain(i: number): EngineCalls<Explanation> {
    const plan = yield* this.report(i);
    return { plan, belief: this.#beliefState.explain(i), error: errorCountedBy(this.#request.grader) };
  }

  #lastDecision(i: number): { choice: Choice; lastStep: Step } {
    this.#requireOpen();
    const choice = this.#choices[checkInteger('i', i, 0, this.#request.numEnvs - 1)];
    if (choice !== null && this.#lastStep !== null) return { choice, lastStep: this.#lastStep };
    throw new StateError(
      'not_reset',
      `Expected a decision for episode ${i} before its report or reasons, got none. Call decide first.`,
    );
  }

  /** Yields the playing episodes, at most `maxEpisodes` at a time, which have taken equally many steps. */
  *#searchedTogether(playing: Uint8Array): Generator<{ step: number; episodes: number[] }> {
    for (let step = 0; step < NUM_STEPS; step++) {
      const episodes: number[] = [];
      for (let i = 0; i < this.#request.numEnvs; i++) {
        if (playing[i] !== 0 && this.#sums.steps[i] === step) episodes.push(i);
      }
      for (let k = 0; k < episodes.length; k += this.#imagination.maxEpisodes) {
        yield { step, episodes: episodes.slice(k, k + this.#imagination.maxEpisodes) };
      }
    }
  }

  #requireOpen(): void {
    if (!this.#closed) return;
    throw new StateError(
      'closed',
      'Expected an open planner, got one that was closed. Create a new planner.',
    );
  }

  /** Frees the planner. Calling it again does nothing. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#imagination[Symbol.dispose]();
  }
}

/** Returns whether rows i and k of a table with `width` columns are equal. */
function sameRows(table: Float32Array | Float64Array, width: number, i: number, k: number): boolean {
  for (let at = 0; at < width; at++) if (table[i * width + at] !== table[k * width + at]) return false;
  return true;
}

/** Returns the mean reward weights of episode i's posterior samples: f64 [5]. */
function meanWeights(profiles: Float32Array, i: number, count: number): Float64Array {
  const weights = new Float64Array(NUM_METERS);
  for (let k = 0; k < count; k++) {
    const at = (i * count + k) * PROFILE_SIZE + NUM_TRAITS;
    for (let meter = 0; meter < NUM_METERS; meter++) weights[meter] += profiles[at + meter] / count;
  }
  return weights;
}
