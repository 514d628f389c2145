/** Policies that are asked before every step, since what they do hangs on what they have seen. */
import { InputError } from '../errors.js';
import type { Grader } from '../graders/grader.js';
import { heuristicAction } from '../reference/baselines.js';
import { didYouMean } from '../suggest.js';
import { spell } from '../text/system.js';
import { ACTION_NAMES, NUM_METERS, OBSERVATION, OBSERVATION_SIZE } from '../world/fields.js';
import { createWorld } from '../world/world.js';
import { Inference } from './inference/inference.js';
import { inferenceWords } from './inference/words.js';
import type { Objective } from './planner/objectives.js';
import type { PlannerOptions } from './planner/options.js';
import { type Decision, Planner } from './planner/planner.js';
import { type BeliefKind, POLICIES, POLICY_NAMES, type Policy } from './policies.js';
import { blindTape, tapeUnder } from './tapes.js';

/** Plays n weeks from what it is shown of them. */
export interface SteppedPlayer extends Disposable {
  /** @param observations f32 [n, 22], row-major, every step's from the first on. */
  decide(observations: Float32Array): Decision;
  /** Why it does in week i what it last decided, in words. */
  reasons(i: number): string;
}

/** What a player is told of the weeks before they begin: nothing that tells one from another. */
export interface Setting extends Pick<PlannerOptions, 'numEnvs' | 'backend' | 'kernel' | 'threads'> {
  readonly grader: Grader;
  /** What whoever plans wants, if not what the policy's name says. */
  readonly objective?: Objective;
}

export interface SteppedPolicy {
  readonly name: string;
  /** As results call how actions are chosen: the name. */
  readonly actions: string;
  readonly belief: BeliefKind;
  /** Whether it is shown who the persons are: then its results are no agent's. */
  readonly oracle: boolean;
  /** What it wants; null for one that plans nothing. */
  readonly objective: Objective | null;
  readonly tape: (grader: string) => string | null;
  /** @param persons f32 [n, 16], called for an oracle only. */
  readonly open: (setting: Setting, persons: () => Float32Array) => SteppedPlayer;
}

/** What a policy does before step `step`, where it only watches: the code for row `i` of observations. */
type Act = (observations: Float32Array, i: number, step: number) => number;

/** Acts as if it had learned nothing, and says what it believes. */
class Watcher implements SteppedPlayer {
  readonly #inference: Inference;
  readonly #act: Act;
  readonly #why: string;
  #actions = new Uint8Array();

  /** @param why what is said of its actions. */
  constructor(numEnvs: number, act: Act, why: string) {
    this.#inference = new Inference(createWorld(), numEnvs);
    this.#act = act;
    this.#why = why;
  }

  decide(observations: Float32Array): Decision {
    this.#inference.observe(observations);
    this.#actions = Uint8Array.from({ length: this.#inference.numEnvs }, (_, i) =>
      this.#act(observations, i, observations[i * OBSERVATION_SIZE + OBSERVATION.step]),
    );
    return { actions: this.#actions.slice(), beliefs: this.#inference.beliefs() };
  }

  reasons(i: number): string {
    const words = inferenceWords(this.#inference.explain(i));
    return `${words} ${spell(ACTION_NAMES[this.#actions[i]])} is what ${this.#why}.`;
  }

  [Symbol.dispose](): void {}
}

function actHeuristically(): Act {
  const { params } = createWorld();
  return (observations, i) => {
    const at = i * OBSERVATION_SIZE;
    const meters = observations.subarray(at + OBSERVATION.meters, at + OBSERVATION.meters + NUM_METERS);
    return heuristicAction(params, observations[at + OBSERVATION.slot], meters);
  };
}

function actBlindly(grader: string): Act {
  const tape = blindTape(tapeUnder(grader));
  return (_observations, _i, step) => tape[step];
}

const watching = (
  name: string,
  tape: SteppedPolicy['tape'],
  act: (grader: string) => Act,
  why: string,
): SteppedPolicy => ({
  ...{ name, actions: name, belief: 'own', oracle: false, objective: null, tape },
  open: ({ numEnvs, grader }) => new Watcher(numEnvs, act(grader.name), why),
});

interface Variant extends Pick<PlannerOptions, 'inference'> {
  readonly objective: Objective;
}

const planning = (name: string, variant: Variant): SteppedPolicy => ({
  ...{ name, actions: name, belief: 'own', oracle: false, objective: variant.objective, tape: () => null },
  open: ({ objective = variant.objective, ...setting }) => new Planner({ ...setting, ...variant, objective }),
});

const ORACLE: SteppedPolicy = {
  ...planning('planner-oracle', { objective: 'score' }),
  oracle: true,
  open: (setting, persons) => new Planner({ ...setting, oracle: persons() }),
};

/** In the order in which a table shows them, after POLICIES. None is played unless it is asked for: they take their time. */
export const STEPPED_POLICIES: readonly SteppedPolicy[] = [
  watching('heuristic+inference', () => null, actHeuristically, 'a fixed heuristic does'),
  watching('blind-tape+inference', tapeUnder, actBlindly, 'a fixed tape does for everybody'),
  planning('planner', { objective: 'score' }),
  planning('planner-wellbeing', { objective: 'wellbeing' }),
  planning('planner-prior', { objective: 'score', inference: false }),
  ORACLE,
];

export const STEPPED_NAMES: readonly string[] = STEPPED_POLICIES.map(({ name }) => name);

/** Of either kind. @param further what else would do. @throws InputError `unknown_name` that lists them all. */
export function findAnyPolicy(name: string, further: readonly string[] = []): Policy | SteppedPolicy {
  const policy = [...POLICIES, ...STEPPED_POLICIES].find((candidate) => candidate.name === name);
  if (policy !== undefined) return policy;
  const known = [...POLICY_NAMES, ...STEPPED_NAMES, ...further];
  throw new InputError(
    'unknown_name',
    `Expected a policy of ${known.join(', ')}; got ${JSON.stringify(name)}.${didYouMean(name, known)}`,
  );
}
