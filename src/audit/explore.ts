/** The searches of an audit. */
import { Episode } from '../reference/episode.js';
import type { TapeSearchOptions } from '../search/options.js';
import { type FoundTape, searchTape, searchTapes } from '../search/tapes.js';
import { createVecEnv } from '../vec-env.js';
import { COMPONENT_NAMES } from '../world/fields.js';
import { inDomain } from '../world/validate.js';
import type { AuditRequest } from './options.js';
import { BELIEF_COMPONENT, type Findings } from './players.js';
import { freshSeeds, luckSeeds, trainingSeeds } from './seeds.js';

/** Shares of the evaluations: of a search for one component, and of one for one person. */
const PUSH_SHARE = 1 / 6;
const PERSON_SHARE = 1 / 60;
const LEAST_EVALUATIONS = 1000;
/** What the grader itself still counts where one component is pushed: many tapes have all of some component. */
const TIE_BREAK = 0.01;

/** Finds the tapes. @throws the signal's reason; BackendError. */
export async function explore(request: AuditRequest): Promise<Findings> {
  const { weights, evaluations } = request;
  const everybody = { seeds: trainingSeeds() };
  const course = new Course(request);
  const search = course.search(evaluations * everybody.seeds.length);
  const blind = await searchTape(everybody, { ...search, grader: weights, evaluations });
  const leastEarlyMean = heuristicEarlyMean(request);
  const honest = await searchTape(everybody, {
    ...course.search(evaluations * everybody.seeds.length),
    grader: weights,
    evaluations,
    leastEarlyMean,
  });
  return {
    blind,
    honest,
    pushed: await pushEach(request, course),
    personal: await searchEach(request, course, blind.tape),
  };
}

/** What all searches share, and how far they have come together. */
class Course {
  readonly #request: AuditRequest;
  readonly #total: number;
  #begun = 0;

  constructor(request: AuditRequest) {
    this.#request = request;
    const { evaluations, persons, weights } = request;
    const shared = evaluations * 2 + pushEvaluations(request) * pushable(weights).length;
    const personal = personEvaluations(request) * persons;
    this.#total = shared * trainingSeeds().length + personal * luckSeeds().length;
  }

  /** Options of the next search, which will play so many weeks. */
  search(weeks: number): TapeSearchOptions {
    const { engine, seed, signal, onProgress } = this.#request;
    const before = this.#begun;
    this.#begun += weeks;
    return {
      ...engine,
      seed,
      signal,
      onProgress: (done, of) => onProgress(before + Math.round((weeks * done) / of), this.#total),
    };
  }
}

const pushEvaluations = ({ evaluations }: AuditRequest): number =>
  Math.max(LEAST_EVALUATIONS, Math.round(evaluations * PUSH_SHARE));
const personEvaluations = ({ evaluations }: AuditRequest): number =>
  Math.max(LEAST_EVALUATIONS, Math.round(evaluations * PERSON_SHARE));

/** Components that weigh something, and that actions decide. */
const pushable = (weights: Float32Array): number[] =>
  [...weights.keys()].filter((k) => k !== BELIEF_COMPONENT && weights[k] !== 0);

async function pushEach(request: AuditRequest, course: Course): Promise<Map<string, FoundTape>> {
  const seeds = trainingSeeds();
  const evaluations = pushEvaluations(request);
  const pushed = new Map<string, FoundTape>();
  for (const component of pushable(request.weights)) {
    const grader = alone(request.weights, component);
    const options = { ...course.search(evaluations * seeds.length), grader, evaluations };
    pushed.set(COMPONENT_NAMES[component], await searchTape({ seeds }, options));
  }
  return pushed;
}

/** One component's weight, and a hint of the grader's; in the range of weights however large or small those are. */
function alone(weights: Float32Array, component: number): Float32Array {
  const hint = TIE_BREAK / Math.max(1, ...weights.map(Math.abs));
  const hinted = (weight: number): number => (inDomain(hint * weight) ? hint * weight : 0);
  return weights.map((weight, k) => hinted(weight) + (k === component ? 1 - hint : 0));
}

/** For each person of the fresh seeds, in weeks of other luck. */
function searchEach(request: AuditRequest, course: Course, blind: Uint8Array): Promise<FoundTape[]> {
  const { weights, persons } = request;
  const evaluations = personEvaluations(request);
  const seeds = luckSeeds();
  const episode = new Episode();
  const problems = Array.from(freshSeeds(persons), (seed) => {
    episode.reset(seed);
    return { seeds, profile: episode.profile.slice() };
  });
  const options = course.search(evaluations * persons * seeds.length);
  return searchTapes(problems, { ...options, grader: weights, evaluations, initialTapes: blind });
}

/** What a first half of the week must come to if nothing is to be neglected in it. */
function heuristicEarlyMean({ engine }: AuditRequest): number {
  const seeds = trainingSeeds();
  using env = createVecEnv({ numEnvs: seeds.length, ...engine });
  env.reset({ seed: seeds });
  const { earlyMeans } = env.run('heuristic');
  return earlyMeans.reduce((sum, mean) => sum + mean, 0) / earlyMeans.length;
}
