/** The planner: infers the profile, imagines episodes with posterior samples, and plans again at each step. */
import { StateError } from '../../shared/errors.js';
import { checkInteger } from '../../shared/values.js';
import { NUM_ACTIONS, NUM_METERS, NUM_STEPS, NUM_TRAITS, PROFILE_SIZE } from '../../world/fields.js';
import { checkRows } from '../inference/check-observations.js';
import { type BeliefState, Inferred, Oracle, Prior } from './belief-state.js';
import { EpisodeNotes } from './episode-notes.js';
import { Imagination } from './imagination.js';
import { type Objective, worthOfBelief } from './objectives.js';
import { PlanEvaluation } from './plan-evaluation.js';
import type { PlanOutlook, PlanReport } from './plan-report.js';
import { type Choice, maxSequencesOf, searchPlans } from './plan-search.js';
import { planWords } from './plan-words.js';
import { type PlannerOptions, type PlannerRequest, toPlannerRequest } from './planner-options.js';

/** The planner's actions and beliefs for a step. Entries of episodes that do not play are 0. */
export interface Decision {
  /** u8 [numEnvs]: codes. Newly allocated. */
  readonly actions: Uint8Array;
  /** f32 [numEnvs, 3]. Newly allocated. */
  readonly beliefs: Float32Array;
}

/** The fields of a `RolloutView` that the planner reads. */
interface View {
  readonly observations: Float32Array;
  readonly playing: Uint8Array;
}

/** The maximum number of episodes searched together: enough for all threads, with little memory. */
const MAX_TOGETHER = 256;

/** The posterior samples and probe values of a step. */
interface Step {
  /** f32 [numEnvs, samples, 16]. */
  readonly profiles: Float32Array;
  /** f64 [numEnvs, 10]: the expected reduction of the belief's error by each action. */
  readonly errorReductions: Float64Array;
}

/**
 * Plays episodes from their observations alone. At each step it draws profiles from the posterior, imagines the rest of
 * the episode with them, under noise that no real episode has, and plays the first action of the best action sequence that
 * it finds. A decision depends only on the episode's observations and the planner's options: not on the batch, the index
 * in it, the threads, the backend or the process.
 */
export class Planner implements Disposable {
  /** The number of episodes that the planner plays. */
  readonly numEnvs: number;
  /** The objective that the planner maximises. */
  readonly objective: Objective;
  /** Whether the planner was given the true profiles. Then it is not a valid agent. */
  readonly isOracle: boolean;
  readonly #request: PlannerRequest;
  readonly #notes: EpisodeNotes;
  readonly #beliefState: BeliefState;
  readonly #imagination: Imagination;
  readonly #evaluation: PlanEvaluation;
  /** The last choice for each episode; null before the first. */
  readonly #choices: (Choice | null)[];
  /** `decide` as the policy of `rolloutGroups`, for rollouts from the first step on. */
  readonly policy = ({ observations, playing }: View): Decision => this.decide(observations, playing);
  #lastStep: Step | null = null;
  #closed = false;

  /**
   * @throws InputError `wrong_type`, `wrong_length`, `out_of_range`, `unknown_option`, `unknown_name`, `bad_grader`,
   *   `bad_profile` or `bad_world`; BackendError if the requested backend or kernel is not available.
   */
  constructor(options: PlannerOptions) {
    const request = toPlannerRequest(options);
    const { numEnvs, world, budget } = request;
    this.#request = request;
    this.numEnvs = numEnvs;
    this.objective = request.objective;
    this.isOracle = request.oracle !== null;
    this.#notes = new EpisodeNotes(numEnvs, world.params);
    this.#beliefState = createBeliefState(request);
    this.#choices = Array(numEnvs).fill(null);
    this.#imagination = new Imagination({
      ...request,
      problems: Math.min(numEnvs, MAX_TOGETHER),
      starts: budget.samples,
      maxSequences: maxSequencesOf(budget),
    });
    this.#evaluation = new PlanEvaluation({ ...request, samples: budget.samples });
  }

  /**
   * Chooses the next action of every episode, or of those that play.
   * @param observations f32 [numEnvs, 22], row-major, fields as in OBSERVATION_FIELDS. Pass the observation of every step,
   *   from the first on. An observation at step 0 begins another episode.
   * @param playing u8 [numEnvs]: rows where it is 0 are ignored. Default: all play.
   * @throws InputError `wrong_type`, `wrong_length`, or `out_of_range` for invalid numbers and steps out of
   *   order; StateError `closed`. Nothing changes then.
   */
  decide(observations: Float32Array, playing?: Uint8Array): Decision {
    this.#requireOpen();
    checkRows(observations, playing ?? null, this.numEnvs);
    const mask = playing ?? new Uint8Array(this.numEnvs).fill(1);
    this.#notes.record(observations, mask);
    this.#beliefState.observe(observations, mask);
    const profiles = this.#beliefState.posteriorSamples(this.#request.budget.samples);
    this.#lastStep = { profiles, errorReductions: this.#errorReductions() };
    const actions = new Uint8Array(this.numEnvs);
    for (const { step, episodes } of this.#batches(mask)) {
      const choices = this.#searchStep(step, episodes, this.#lastStep);
      episodes.forEach((i, k) => {
        this.#choices[i] = choices[k];
        actions[i] = choices[k].action;
      });
    }
    return { actions, beliefs: this.#beliefState.beliefs() };
  }

  #searchStep(step: number, episodes: readonly number[], { profiles, errorReductions }: Step): Choice[] {
    const { budget, seed } = this.#request;
    this.#imagination.begin(step, episodes, this.#notes, profiles);
    const kept = episodes.map((i) => (step === 0 ? null : (this.#choices[i]?.sequences ?? null)));
    const curiosity = episodes.map((i) =>
      errorReductions
        .slice(i * NUM_ACTIONS, (i + 1) * NUM_ACTIONS)
        .map((reduction) => reduction * this.#worthOfError),
    );
    return searchPlans(this.#imagination, budget, seed, step, kept, curiosity);
  }

  get #worthOfError(): number {
    const { curiosity, objective, grader } = this.#request;
    return curiosity * worthOfBelief(objective, grader);
  }

  #errorReductions(): Float64Array {
    const beliefState = this.#beliefState;
    return beliefState.probeValues === undefined || this.#worthOfError === 0
      ? new Float64Array(this.numEnvs * NUM_ACTIONS)
      : Float64Array.from(beliefState.probeValues());
  }

  /**
   * Returns the numbers behind the last decision for episode i. Evaluates two plans, which takes some milliseconds.
   * @throws InputError `out_of_range`; StateError `not_reset` before the first decision, `closed`.
   */
  report(i: number): PlanReport {
    const { choice, lastStep } = this.#lastDecision(i);
    const step = this.#notes.steps[i];
    const { action, rival } = choice;
    const outlook = (first: number): PlanOutlook => {
      const actions = choice.best.slice(first * NUM_STEPS, (first + 1) * NUM_STEPS);
      const errorReduction = lastStep.errorReductions[i * NUM_ACTIONS + first];
      const outlook = this.#evaluation.play(actions, step, i, this.#notes, lastStep.profiles);
      return { ...outlook, actions: Array.from(actions.subarray(step)), errorReduction };
    };
    const [plan, other] = [outlook(action), outlook(rival)];
    return {
      ...{ step, plan, rival: other, objective: this.objective, grader: this.#request.grader },
      meters: this.#notes.meters.slice(i * NUM_METERS, (i + 1) * NUM_METERS),
      weights: meanWeights(lastStep.profiles, i, this.#request.budget.samples),
      loss: choice.values[action] - choice.values[rival],
      curiosity: (plan.errorReduction - other.errorReduction) * this.#worthOfError,
    };
  }

  /**
   * Returns the last decision for episode i in words: the observations, the belief, the plan and its reasons.
   * @throws as `report`.
   */
  reasons(i: number): string {
    const plan = planWords(this.report(i));
    return `${this.#beliefState.words(i)} ${plan}`;
  }

  #lastDecision(i: number): { choice: Choice; lastStep: Step } {
    this.#requireOpen();
    const choice = this.#choices[checkInteger('i', i, 0, this.numEnvs - 1)];
    if (choice !== null && this.#lastStep !== null) return { choice, lastStep: this.#lastStep };
    throw new StateError(
      'not_reset',
      `Expected a decision for episode ${i} before its reasons, got none. Call decide first.`,
    );
  }

  /** Yields the playing episodes, in parts that have taken the same number of steps. */
  *#batches(playing: Uint8Array): Generator<{ step: number; episodes: number[] }> {
    for (let step = 0; step < NUM_STEPS; step++) {
      const episodes: number[] = [];
      for (let i = 0; i < this.numEnvs; i++) {
        if (playing[i] !== 0 && this.#notes.steps[i] === step) episodes.push(i);
      }
      for (let k = 0; k < episodes.length; k += this.#imagination.maxEpisodes) {
        yield { step, episodes: episodes.slice(k, k + this.#imagination.maxEpisodes) };
      }
    }
  }

  #requireOpen(): void {
    if (!this.#closed) return;
    throw new StateError('closed', 'Expected an open planner, got one that was closed. Create a new one.');
  }

  /** Frees the planner. Calling it again does nothing. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#imagination[Symbol.dispose]();
    this.#evaluation[Symbol.dispose]();
  }

  /** `close`, for `using`. */
  [Symbol.dispose](): void {
    this.close();
  }
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

function createBeliefState({ numEnvs, world, inference, oracle, seed }: PlannerRequest): BeliefState {
  if (oracle !== null) return new Oracle(numEnvs, world.params, oracle);
  return inference ? new Inferred(numEnvs, world, seed) : new Prior(numEnvs, world.params, seed);
}
