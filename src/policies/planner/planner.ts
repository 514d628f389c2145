/** Plays by thinking ahead: infers who the person is, imagines weeks with whom that might be, and plans anew each step. */
import { StateError } from '../../errors.js';
import { checkInteger } from '../../validate/values.js';
import { NUM_ACTIONS, NUM_METERS, NUM_STEPS, NUM_TRAITS, PROFILE_SIZE } from '../../world/fields.js';
import { checkRows } from '../inference/rows.js';
import { type Choice, deliberate, mostOf } from './deliberation.js';
import { Imagination } from './imagination.js';
import { Inferred, type Knowledge, Oracle, Prior } from './knowledge.js';
import { type Objective, worthOfBelief } from './objectives.js';
import { type PlannerOptions, type PlannerRequest, toPlannerRequest } from './options.js';
import { Rehearsal } from './rehearsal.js';
import type { PlanOutlook, PlanReport } from './report.js';
import { Tracks } from './tracks.js';
import { planWords } from './words.js';

/** What a planner does in a step. Entries of episodes that do not play are 0. */
export interface Decision {
  /** u8 [numEnvs]: codes. Newly allocated. */
  readonly actions: Uint8Array;
  /** f32 [numEnvs, 3]. Newly allocated. */
  readonly beliefs: Float32Array;
}

/** What a `RolloutView` has. */
interface Seen {
  readonly observations: Float32Array;
  readonly playing: Uint8Array;
}

/** Episodes that are thought about together: enough for all threads, and little memory. */
const TOGETHER = 256;

/** What is known at a step of all episodes. */
interface Moment {
  /** f32 [numEnvs, people, 16]. */
  readonly people: Float32Array;
  /** f64 [numEnvs, 10]: by how much each action is expected to reduce the belief's error. */
  readonly tells: Float64Array;
}

/**
 * Plays weeks from what it is shown of them, and nothing else. At each step it takes persons that each person might be
 * from what was inferred, imagines weeks with them, and luck that no real week has, to the end, and plays the first
 * action of the best tape that it finds. What it does in an episode is a function of that episode's observations and the
 * planner's options: not of the batch, the place in it, the threads, the backend or the process.
 */
export class Planner implements Disposable {
  readonly numEnvs: number;
  readonly objective: Objective;
  /** Whether it was shown who the persons are: then it is no agent. */
  readonly isOracle: boolean;
  readonly #request: PlannerRequest;
  readonly #tracks: Tracks;
  readonly #knowledge: Knowledge;
  readonly #imagination: Imagination;
  readonly #rehearsal: Rehearsal;
  /** The last choice for each episode; null before the first. */
  readonly #choices: (Choice | null)[];
  /** The same, as `rolloutGroups` asks for it: of rollouts that begin with the week. */
  readonly policy = ({ observations, playing }: Seen): Decision => this.decide(observations, playing);
  #moment: Moment | null = null;
  #closed = false;

  /**
   * @throws InputError `wrong_type`, `wrong_length`, `out_of_range`, `unknown_option`, `unknown_name`, `bad_grader`,
   *   `bad_profile` or `bad_world`; BackendError if the backend or kernel asked for cannot be used here.
   */
  constructor(options: PlannerOptions) {
    const request = toPlannerRequest(options);
    const { numEnvs, world, budget } = request;
    this.#request = request;
    this.numEnvs = numEnvs;
    this.objective = request.objective;
    this.isOracle = request.oracle !== null;
    this.#tracks = new Tracks(numEnvs, world.params);
    this.#knowledge = knowledgeOf(request);
    this.#choices = Array(numEnvs).fill(null);
    this.#imagination = new Imagination({
      ...request,
      problems: Math.min(numEnvs, TOGETHER),
      starts: budget.people,
      most: mostOf(budget),
    });
    this.#rehearsal = new Rehearsal({ ...request, people: budget.people });
  }

  /**
   * Chooses the next action of every episode, or of those that play.
   * @param observations f32 [numEnvs, 22], row-major, fields as in OBSERVATION_FIELDS: each step's of an episode, from
   *   the first on. One at step 0 begins another episode.
   * @param playing u8 [numEnvs]: rows where it is 0 are ignored. Default: all play.
   * @throws InputError `wrong_type`, `wrong_length`, or `out_of_range` for numbers that no observation holds and steps
   *   that do not follow; StateError `closed`. Nothing was noted then.
   */
  decide(observations: Float32Array, playing?: Uint8Array): Decision {
    this.#requireOpen();
    checkRows(observations, playing ?? null, this.numEnvs);
    const mask = playing ?? new Uint8Array(this.numEnvs).fill(1);
    this.#tracks.see(observations, mask);
    this.#knowledge.observe(observations, mask);
    const people = this.#knowledge.people(this.#request.budget.people);
    this.#moment = { people, tells: this.#tells() };
    const actions = new Uint8Array(this.numEnvs);
    for (const { step, episodes } of this.#together(mask)) {
      const choices = this.#deliberate(step, episodes, this.#moment);
      episodes.forEach((i, k) => {
        this.#choices[i] = choices[k];
        actions[i] = choices[k].action;
      });
    }
    return { actions, beliefs: this.#knowledge.beliefs() };
  }

  #deliberate(step: number, episodes: readonly number[], { people, tells }: Moment): Choice[] {
    const { budget, seed } = this.#request;
    this.#imagination.begin(step, episodes, this.#tracks, people);
    const kept = episodes.map((i) => (step === 0 ? null : (this.#choices[i]?.tapes ?? null)));
    const curiosity = episodes.map((i) =>
      tells.slice(i * NUM_ACTIONS, (i + 1) * NUM_ACTIONS).map((told) => told * this.#worthOfTelling),
    );
    return deliberate(this.#imagination, budget, seed, step, kept, curiosity);
  }

  get #worthOfTelling(): number {
    const { curiosity, objective, grader } = this.#request;
    return curiosity * worthOfBelief(objective, grader);
  }

  #tells(): Float64Array {
    const knowledge = this.#knowledge;
    return knowledge.probeValues === undefined || this.#worthOfTelling === 0
      ? new Float64Array(this.numEnvs * NUM_ACTIONS)
      : Float64Array.from(knowledge.probeValues());
  }

  /**
   * What the last decision for episode i rests on, in numbers. Plans are played through in mind for it: some milliseconds.
   * @throws InputError `out_of_range`; StateError `not_reset` before the first decision, `closed`.
   */
  report(i: number): PlanReport {
    const { choice, moment } = this.#decided(i);
    const step = this.#tracks.steps[i];
    const { action, rival } = choice;
    const outlook = (first: number): PlanOutlook => {
      const tape = choice.best.slice(first * NUM_STEPS, (first + 1) * NUM_STEPS);
      const tells = moment.tells[i * NUM_ACTIONS + first];
      const outlook = this.#rehearsal.play(tape, step, i, this.#tracks, moment.people);
      return { ...outlook, actions: Array.from(tape.subarray(step)), tells };
    };
    const [plan, other] = [outlook(action), outlook(rival)];
    return {
      ...{ step, plan, rival: other, objective: this.objective, grader: this.#request.grader },
      meters: this.#tracks.meters.slice(i * NUM_METERS, (i + 1) * NUM_METERS),
      weights: meanWeights(moment.people, i, this.#request.budget.people),
      loss: choice.worth[action] - choice.worth[rival],
      curiosity: (plan.tells - other.tells) * this.#worthOfTelling,
    };
  }

  /**
   * The last decision for episode i in words: what was seen of the person, what is believed, what is planned and why.
   * @throws as `report`.
   */
  reasons(i: number): string {
    const plan = planWords(this.report(i));
    return `${this.#knowledge.words(i)} ${plan}`;
  }

  #decided(i: number): { choice: Choice; moment: Moment } {
    this.#requireOpen();
    const choice = this.#choices[checkInteger('i', i, 0, this.numEnvs - 1)];
    if (choice !== null && this.#moment !== null) return { choice, moment: this.#moment };
    throw new StateError(
      'not_reset',
      `Expected a decision for episode ${i} before its reasons, got none. Call decide first.`,
    );
  }

  /** Those that play, in parts that have taken equally many steps. */
  *#together(playing: Uint8Array): Generator<{ step: number; episodes: number[] }> {
    for (let step = 0; step < NUM_STEPS; step++) {
      const episodes: number[] = [];
      for (let i = 0; i < this.numEnvs; i++) {
        if (playing[i] !== 0 && this.#tracks.steps[i] === step) episodes.push(i);
      }
      for (let k = 0; k < episodes.length; k += this.#imagination.room) {
        yield { step, episodes: episodes.slice(k, k + this.#imagination.room) };
      }
    }
  }

  #requireOpen(): void {
    if (!this.#closed) return;
    throw new StateError('closed', 'Expected an open planner, got one that was closed. Create a new one.');
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#imagination[Symbol.dispose]();
    this.#rehearsal[Symbol.dispose]();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

/** f64 [5]: the mean reward weights of those whom episode i's person might be. */
function meanWeights(people: Float32Array, i: number, count: number): Float64Array {
  const weights = new Float64Array(NUM_METERS);
  for (let k = 0; k < count; k++) {
    const at = (i * count + k) * PROFILE_SIZE + NUM_TRAITS;
    for (let meter = 0; meter < NUM_METERS; meter++) weights[meter] += people[at + meter] / count;
  }
  return weights;
}

function knowledgeOf({ numEnvs, world, inference, oracle, seed }: PlannerRequest): Knowledge {
  if (oracle !== null) return new Oracle(numEnvs, world.params, oracle);
  return inference ? new Inferred(numEnvs, world, seed) : new Prior(numEnvs, world.params, seed);
}
