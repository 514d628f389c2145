/** In the worker: a crowd lives its week, a piece at a time. */
import { type AsyncVecEnv, createAsyncVecEnv } from '../../../../src/browser.js';
import { graderWeights } from '../../../../src/graders/grader.js';
import { type Bands, bandsOf } from '../../../../src/pictures/percentiles.js';
import { findPolicy, type Policy } from '../../../../src/policies/policies.js';
import { othersTurn } from '../../../../src/vec-env/turns.js';
import { NUM_STEPS } from '../../../../src/world/fields.js';
import { type Engine, engine } from '../backend.js';
import type { Report } from '../jobs.js';
import { CallFailed } from '../outcome.js';
import { BANDED, type Crowd, type CrowdRequest, MOST_ON_REFERENCE } from './request.js';
import { PairTally, Tally } from './tally.js';

/** People of a piece: so many that a device is busy, so few that somebody who stops it need not wait. */
const PIECE = { device: 2 ** 17, software: 2 ** 15, reference: 2 ** 13 };

/** @throws CallFailed for more people than the reference takes; BackendError; the signal's reason. */
export async function liveCrowd(request: CrowdRequest, report: Report, signal: AbortSignal): Promise<Crowd> {
  const found = await engine();
  requireFew(request, found);
  const begun = performance.now();
  const { people, policies } = request;
  const players = policies.map((name) => new Player(findPolicy(name), request));
  const pairs = new PairTally();
  await using stage = new Stage(found.backend, request);
  for (let done = 0; done < people; ) {
    signal.throwIfAborted();
    const count = done === 0 ? Math.min(BANDED, people) : Math.min(pieceOf(found), people - done);
    await stage.draw(count, done);
    const scores: Float32Array[] = [];
    for (const player of players) scores.push(await player.live(stage, done === 0, signal));
    if (scores.length === 2) pairs.add(scores);
    done += count;
    report({ done, total: people });
    // The reference keeps this worker to itself else, and nobody could stop it.
    await othersTurn();
  }
  return {
    request,
    players: players.map((player) => player.result()),
    pairing: players.length === 2 ? pairs.result() : null,
    steps: people * NUM_STEPS * players.length,
    seconds: (performance.now() - begun) / 1000,
  };
}

const pieceOf = ({ backend, software }: Engine): number =>
  backend === 'reference' ? PIECE.reference : software ? PIECE.software : PIECE.device;

function requireFew({ people }: CrowdRequest, { backend }: Engine): void {
  if (backend !== 'reference' || people <= MOST_ON_REFERENCE) return;
  const most = MOST_ON_REFERENCE.toLocaleString('en');
  throw new CallFailed({
    kind: 'refused',
    message:
      `Expected at most ${most} people without a graphics device, got ${people.toLocaleString('en')}: the reference ` +
      'lives their weeks one after the other. Choose fewer.',
  });
}

/** Two environments: one in which people are drawn, one in which their weeks are lived, policy by policy. */
class Stage {
  readonly #backend: string;
  readonly #request: CrowdRequest;
  #people: AsyncVecEnv | null = null;
  #weeks: AsyncVecEnv | null = null;
  #everybody = new Uint32Array();

  constructor(backend: string, request: CrowdRequest) {
    this.#backend = backend;
    this.#request = request;
  }

  /** The next people. @param first how many there were before them. */
  async draw(count: number, first: number): Promise<void> {
    if (count !== this.#people?.numEnvs) await this.#open(count);
    const { seed, persons } = this.#request;
    await this.#people!.reset({ seed: seed + first, profiles: persons });
  }

  async #open(count: number): Promise<void> {
    await this[Symbol.asyncDispose]();
    const options = { backend: this.#backend, numEnvs: count, grader: this.#request.grader };
    this.#people = await createAsyncVecEnv(options);
    this.#weeks = await createAsyncVecEnv(options);
    this.#everybody = Uint32Array.from({ length: count }, (_, i) => i);
  }

  /** Their week under a policy. The views that it gives are the next one's, too. */
  live({ choice, options }: Policy, trajectory: boolean, signal: AbortSignal) {
    const { grader } = this.#request;
    const from = { source: this.#people!, indices: this.#everybody };
    return this.#weeks!.run(choice(this.#everybody.length, grader), {
      beliefs: options.beliefs,
      outputs: ['finalScores', 'components'],
      ...{ from, trajectory, signal },
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#weeks?.close();
    await this.#people?.close();
  }
}

/** A policy, and what it has come to. */
class Player {
  readonly #policy: Policy;
  readonly #request: CrowdRequest;
  readonly #tally = new Tally();
  #bands: Bands | null = null;

  constructor(policy: Policy, request: CrowdRequest) {
    this.#policy = policy;
    this.#request = request;
  }

  /** @returns f32 [n], the people's final scores: a copy. */
  async live(stage: Stage, banded: boolean, signal: AbortSignal): Promise<Float32Array> {
    const lived = await stage.live(this.#policy, banded, signal);
    if (lived.trajectory !== null) this.#bands = bandsOf(lived.trajectory.meters);
    this.#tally.add(lived);
    return lived.finalScores.slice();
  }

  result() {
    return this.#tally.result(this.#policy.name, graderWeights(this.#request.grader), this.#bands!);
  }
}
