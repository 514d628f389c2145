/** Plays by thinking ahead: infers who the person is, imagines weeks with whom that might be, and plans anew each step. */
import { StateError } from '../../errors.js';
import { NUM_ACTIONS, NUM_STEPS } from '../../world/fields.js';
import { Inference } from '../inference/inference.js';
import { type Choice, deliberate, mostOf } from './deliberation.js';
import { Imagination } from './imagination.js';
import { type Knowledge, Oracle, Prior } from './knowledge.js';
import { worthOfBelief } from './objectives.js';
import { type PlannerOptions, type PlannerRequest, toPlannerRequest } from './options.js';
import { Tracks } from './tracks.js';

/** What a planner does in a step. Entries of episodes that do not play are 0. */
export interface Decision {
  /** u8 [numEnvs]: codes. Newly allocated. */
  readonly actions: Uint8Array;
  /** f32 [numEnvs, 3]. Newly allocated. */
  readonly beliefs: Float32Array;
}

/** Episodes that are thought about together: enough for all threads, and little memory. */
const TOGETHER = 256;

export class Planner implements Disposable {
  readonly numEnvs: number;
  /** Whether it was shown who the persons are. */
  readonly isOracle: boolean;
  readonly #request: PlannerRequest;
  readonly #tracks: Tracks;
  readonly #knowledge: Knowledge;
  readonly #imagination: Imagination;
  /** The last choice for each episode; null before the first. */
  readonly #choices: (Choice | null)[];
  #closed = false;

  constructor(options: PlannerOptions) {
    const request = toPlannerRequest(options);
    const { numEnvs, world, budget } = request;
    this.#request = request;
    this.numEnvs = numEnvs;
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
  }

  decide(observations: Float32Array, playing: Uint8Array = new Uint8Array(this.numEnvs).fill(1)): Decision {
    this.#requireOpen();
    this.#tracks.see(observations, playing);
    this.#knowledge.observe(observations, playing);
    const people = this.#knowledge.people(this.#request.budget.people);
    const curiosity = this.#curiosity();
    const actions = new Uint8Array(this.numEnvs);
    for (const { step, episodes } of this.#together(playing)) {
      this.#imagination.begin(step, episodes, this.#tracks, people);
      const kept = episodes.map((i) => (step === 0 ? null : (this.#choices[i]?.tapes ?? null)));
      const { budget, seed } = this.#request;
      const wonder = episodes.map((i) => curiosity.subarray(i * NUM_ACTIONS, (i + 1) * NUM_ACTIONS));
      const choices = deliberate(this.#imagination, budget, seed, step, kept, wonder);
      episodes.forEach((i, k) => {
        this.#choices[i] = choices[k];
        actions[i] = choices[k].tapes[step];
      });
    }
    return { actions, beliefs: this.#knowledge.beliefs() };
  }

  #curiosity(): Float64Array {
    const out = new Float64Array(this.numEnvs * NUM_ACTIONS);
    const { curiosity, objective, grader } = this.#request;
    if (!(this.#knowledge instanceof Inference) || curiosity === 0) return out;
    const values = this.#knowledge.probeValues();
    for (let k = 0; k < out.length; k++) {
      const step = this.#tracks.steps[Math.floor(k / NUM_ACTIONS)];
      if (step < NUM_STEPS - 1) out[k] = curiosity * worthOfBelief(objective, grader) * values[k];
    }
    return out;
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
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

function knowledgeOf({ numEnvs, world, inference, oracle, seed }: PlannerRequest): Knowledge {
  if (oracle !== null) return new Oracle(numEnvs, world.params, oracle);
  return inference ? new Inference(world, numEnvs, { seed }) : new Prior(numEnvs, world.params, seed);
}
