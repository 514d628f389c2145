/** Draws numbers, arrays and requests of the backend interface from a seeded generator. */
import fc from 'fast-check';
import seedrandom from 'seedrandom';
import type {
  ResetRequest,
  RunBeliefs,
  RunRequest,
  StepRequest,
  Trajectory,
} from '../../src/engine/backends/backend.js';
import type { EnvStarts } from '../../src/engine/validate/starts.js';
import {
  MODE,
  NUM_ACTIONS,
  NUM_COMPONENTS,
  NUM_METERS,
  NUM_STEPS,
  NUM_TRAITS,
  PROFILE_SIZE,
} from '../../src/world/fields.js';
import { resolveGrader } from '../../src/world/resolve-names.js';
import type { World } from '../../src/world/world.js';
import { WORLD } from './open-batch.js';

/** The seed of fast-check, so that every test run draws the same numbers. */
export const DRAWS = { seed: 20_260_101 };

/** The factor of the number of random draws, `RHYTHM_DRAWS`. It exceeds 1 in vitest's project `soak`. */
const FACTOR = Number(process.env.RHYTHM_DRAWS ?? 0.15);

/** Returns the number of draws of this test run. @param thorough the number of draws at a factor of 1. */
export const drawsOf = (thorough: number): number => Math.ceil(thorough * FACTOR);

/** Checks a property with random generators. @param runs the number of checks at a factor of 1. */
export function forAll(runs: number, body: (random: Random) => void): void {
  const property = fc.property(fc.integer(), (seed) => body(new Random(seed)));
  fc.assert(property, { ...DRAWS, numRuns: drawsOf(runs) });
}

/** Texts of any code points. `fc.string` with the unit 'binary' maps all of them first, which takes seconds. */
export const anyText = (maxLength = 10) =>
  fc
    .array(fc.integer({ min: 0, max: 0x10ffff }), { maxLength })
    .map((points) => String.fromCodePoint(...points));

const NO_BELIEF = Number.NaN;

/** A seeded generator of numbers, arrays and requests. */
export class Random {
  readonly seed: number | string;
  readonly #next: () => number;
  constructor(seed: number | string) {
    this.seed = seed;
    this.#next = seedrandom(String(seed));
  }

  /** Draws a number in [low, high). */
  real(low = 0, high = 1): number {
    return low + (high - low) * this.#next();
  }
  /** Draws an integer in [low, high]. */
  integer(low: number, high: number): number {
    return low + Math.floor(this.#next() * (high - low + 1));
  }
  chance(p: number): boolean {
    return this.#next() < p;
  }
  pick<T>(choices: readonly T[]): T {
    return choices[this.integer(0, choices.length - 1)];
  }
  /** Any legal float of a world: sometimes 0, else a magnitude from 2^-40 to 2^20 with either sign. */
  wild(): number {
    if (this.chance(0.1)) return 0;
    return (this.chance(0.5) ? 1 : -1) * 2 ** this.real(-40, 20);
  }
  /** u8 [length]: integers in [low, high]. */
  bytes(length: number, low: number, high: number): Uint8Array {
    return Uint8Array.from({ length }, () => this.integer(low, high));
  }
  /** u8 [length]: 1, 2 or 255 with probability p, else 0. */
  mask(length: number, p: number): Uint8Array {
    return Uint8Array.from({ length }, () => (this.chance(p) ? this.pick([1, 1, 2, 255]) : 0));
  }
  seeds(length: number): Uint32Array {
    return Uint32Array.from({ length }, () =>
      this.chance(0.05) ? this.pick([0, 2 ** 32 - 1]) : this.integer(0, 2 ** 32 - 1),
    );
  }
  /** A permutation of 0 to n - 1. */
  permutation(n: number): Uint32Array {
    const order = Uint32Array.from({ length: n }, (_, i) => i);
    for (let i = n - 1; i > 0; i--) {
      const j = this.integer(0, i);
      [order[i], order[j]] = [order[j], order[i]];
    }
    return order;
  }

  /** f32 [n, 16]: profiles near the traits' ranges, sometimes one far from them. */
  profiles(n: number, world: World = WORLD): Float32Array {
    const rows = new Float32Array(n * PROFILE_SIZE);
    for (let i = 0; i < n; i++) {
      const far = this.chance(0.1);
      const near = (k: number) =>
        k < NUM_TRAITS
          ? world.params.traitLow[k] + world.params.traitSpan[k] * this.real(-0.5, 1.5)
          : this.real(-0.2, 1);
      for (let k = 0; k < PROFILE_SIZE; k++) rows[i * PROFILE_SIZE + k] = far ? this.wild() : near(k);
    }
    return rows;
  }
  /** f32 [n, 8]: the graders v1 or v2, or weights that sum to 1. */
  graders(n: number, world: World = WORLD): Float32Array {
    const rows = new Float32Array(n * NUM_COMPONENTS);
    for (let i = 0; i < n; i++) {
      const grader = this.pick(['v1', 'v2', null]);
      rows.set(grader ? resolveGrader(world, grader) : this.weights(NUM_COMPONENTS), i * NUM_COMPONENTS);
    }
    return rows;
  }
  /** Numbers that sum to 1. Some may be negative. */
  weights(length: number): number[] {
    const free = Array.from({ length }, () => this.real(this.chance(0.2) ? -0.3 : 0.01, 1));
    const sum = free.reduce((total, weight) => total + weight, 0);
    // Draws again, because dividing by a number near 0 would give huge weights. 0.2 is chosen by hand.
    if (sum < 0.2) return this.weights(length);
    return free.map((weight) => weight / sum);
  }
  /** One number of a belief: in [0, 1] or outside, a zero of either sign, tiny or huge. */
  #beliefNumber(): number {
    return this.chance(0.8) ? this.real() : this.pick([-0, 0, 1, 2 ** -41, 2 ** -40, 1e-42, -3, 3e38, -3e38]);
  }
  /** f32 [rows, 3], NaN for no belief, and u8 [rows]: which are given. */
  beliefs(rows: number, p: number): { beliefs: Float32Array; given: Uint8Array } {
    const given = Uint8Array.from({ length: rows }, () => Number(this.chance(p)));
    const beliefs = Float32Array.from({ length: rows * 3 }, (_, i) =>
      given[Math.floor(i / 3)] ? this.#beliefNumber() : NO_BELIEF,
    );
    return { beliefs, given };
  }

  /** Start states at steps from 0 to `last`: any legal state, reachable or not. */
  starts(n: number, last = NUM_STEPS - 1, world: World = WORLD): EnvStarts {
    const steps = this.bytes(n, 0, last);
    // The smallest legal magnitude (MIN_VALUE of starts.ts). The largest legal sum is 2^64.
    const tiny = 2 ** -80;
    const sum = () => (this.chance(0.9) ? this.real(-30, 30) : this.pick([0, tiny, -tiny, 2 ** 64]));
    // In episodes with fewer than `first` steps nothing has been added to a sum, so it is 0.
    const sums = (first: number) =>
      this.chance(0.2) ? null : Float32Array.from(steps, (step) => (step < first ? 0 : sum()));
    const meter = () => (this.chance(0.9) ? this.real() : this.pick([0, 1, tiny, 0.1]));
    return {
      steps,
      meters: Float32Array.from({ length: n * NUM_METERS }, meter),
      early: sums(1),
      late: sums(NUM_STEPS / 2 + 1),
      returns: sums(1),
      crashes: this.chance(0.2) ? null : steps.map((step) => this.integer(0, step * NUM_METERS)),
      well: this.chance(0.2) ? null : Float32Array.from(steps, (step) => this.real(0, step)),
      skill: this.chance(0.2) ? null : Float32Array.from(steps, (step) => this.#skillAfter(step, world)),
      ...this.#givenBeliefs(steps),
    };
  }
  /** A sum of belief skill: one term for each step from `beliefSkillFrom` on, each from 1 - `beliefSkillScale` to 1. */
  #skillAfter(step: number, { params }: World): number {
    const { beliefSkillFrom, beliefSkillScale } = params;
    const terms = Math.max(0, step - beliefSkillFrom);
    return terms === 0 ? 0 : this.real(terms * (1 - beliefSkillScale), terms);
  }
  /** The beliefs given before each start; none before a start at step 0. */
  #givenBeliefs(steps: Uint8Array): Pick<EnvStarts, 'beliefs' | 'given'> {
    if (this.chance(0.3)) return { beliefs: null, given: null };
    const given = steps.map((step) => Number(step > 0 && this.chance(0.6)));
    const number = (env: number) => (given[env] ? this.pick([0, 1, this.real()]) : 0.5);
    return {
      beliefs: Float32Array.from({ length: 3 * steps.length }, (_, at) => number(Math.floor(at / 3))),
      given,
    };
  }
  reset(n: number, world: World = WORLD): ResetRequest {
    return {
      mask: null,
      seeds: this.seeds(n),
      modes: this.bytes(n, MODE.sampled, MODE.given),
      profiles: this.profiles(n, world),
      graders: this.graders(n, world),
    };
  }
  /** A reset, in which episodes sometimes begin at later steps. */
  resetAtAnyStep(n: number, world: World = WORLD): ResetRequest {
    const request = this.reset(n, world);
    return this.chance(0.4) ? { ...request, start: this.starts(n, NUM_STEPS - 1, world) } : request;
  }
  /**
   * A step of all or some of the environments whose episode has not ended.
   * @param autoreset whether the step may reset environments.
   */
  step(terminated: ArrayLike<number>, autoreset = this.chance(0.5)): StepRequest {
    const n = terminated.length;
    const p = this.pick([0.5, 1]);
    const mask = Uint8Array.from(terminated, (over) => (over === 0 && this.chance(p) ? 1 : 0));
    const all = mask.every((steps) => steps !== 0);
    // The action of an environment that does not step is ignored, so it may be illegal.
    const actions = Uint8Array.from(mask, (steps) => this.integer(0, steps ? NUM_ACTIONS - 1 : 255));
    const beliefs = this.chance(0.7) ? this.beliefs(n, 0.6) : { beliefs: null, given: null };
    return {
      actions,
      ...beliefs,
      stepMask: all && this.chance(0.5) ? null : mask,
      resetMask: autoreset ? this.mask(n, 0.3) : null,
      resetSeeds: autoreset ? this.seeds(n) : null,
    };
  }
  run(n: number, trajectory: Trajectory | null = null): RunRequest {
    const policy = this.pick(['random', 'heuristic', 'sequence'] as const);
    return {
      policy:
        policy === 'sequence'
          ? { kind: policy, actions: this.bytes(n * NUM_STEPS, 0, NUM_ACTIONS - 1) }
          : policy === 'random'
            ? { kind: policy, policySeeds: this.chance(0.5) ? this.seeds(n) : null }
            : { kind: policy },
      beliefs: this.#runBeliefs(n),
      stops: this.chance(0.7) ? this.stops(n) : null,
      trajectory,
    };
  }
  /** u8 [n]: often equal in long stretches, so that some lanes stop at the same step. */
  stops(n: number): Uint8Array {
    const stretch = this.pick([1, 5, 16, 40]);
    const stops = this.bytes(Math.ceil(n / stretch), 0, NUM_STEPS);
    return Uint8Array.from({ length: n }, (_, i) => stops[Math.floor(i / stretch)]);
  }
  #runBeliefs(n: number): RunBeliefs | null {
    if (this.chance(0.3)) return null;
    if (this.chance(0.4))
      return { kind: 'constant', belief: Float32Array.from([1, 2, 3], () => this.#beliefNumber()) };
    return { kind: 'sequence', ...this.beliefs(n * NUM_STEPS, this.pick([0.02, 0.5, 1])) };
  }
}
