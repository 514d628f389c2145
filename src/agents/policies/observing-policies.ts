/** Policies that choose each action from observations. */

import type { Grader } from '../../engine/graders/grader.js';
import { heuristicAction } from '../../engine/reference/baselines.js';
import { spell } from '../../rollouts/text/system.js';
import { InputError } from '../../shared/errors.js';
import { didYouMean } from '../../shared/suggest.js';
import { ACTION_NAMES, NUM_METERS, OBSERVATION, OBSERVATION_SIZE } from '../../world/fields.js';
import { createWorld } from '../../world/world.js';
import { Inference } from '../inference/inference.js';
import { inferenceWords } from '../inference/inference-words.js';
import type { Objective } from '../planner/objectives.js';
import { type Decision, Planner } from '../planner/planner.js';
import type { PlannerOptions } from '../planner/planner-options.js';
import { openLoopActions, sequenceGraderUnder } from './open-loop.js';
import { type BeliefKind, POLICIES, POLICY_NAMES, type Policy } from './policies.js';

/** Plays n episodes from their observations. */
export interface SteppedPlayer extends Disposable {
  /** Chooses actions. Call it at every step from the first on. @param observations f32 [n, 22], row-major. */
  decide(observations: Float32Array): Decision;
  /** Describes the reasons for the last decision in episode i. */
  reasons(i: number): string;
}

/** The information that a player has before the episodes begin. It is the same for all episodes. */
export interface Setting extends Pick<PlannerOptions, 'numEnvs' | 'backend' | 'kernel' | 'threads'> {
  readonly grader: Grader;
  /** The objective of a planner. Default: the objective that the policy's name implies. */
  readonly objective?: Objective;
}

export interface SteppedPolicy {
  readonly name: string;
  /** The name of the actions in results: that of the policy. */
  readonly actions: string;
  readonly belief: BeliefKind;
  /** Whether the policy uses the hidden profiles. Then it is not a valid agent. */
  readonly oracle: boolean;
  /** The planner's objective; null for a policy that does not plan. */
  readonly objective: Objective | null;
  readonly sequenceGrader: (grader: string) => string | null;
  /** @param profiles returns f32 [n, 16]; called for an oracle only. */
  readonly open: (setting: Setting, profiles: () => Float32Array) => SteppedPlayer;
}

/** Returns the action code at step `step` for row `i` of the observations. */
type Act = (observations: Float32Array, i: number, step: number) => number;

/** Plays a fixed policy and states inferred beliefs. */
class InferringPlayer implements SteppedPlayer {
  readonly #inference: Inference;
  readonly #act: Act;
  readonly #actionSource: string;
  #actions = new Uint8Array();

  /** @param actionSource the source of the actions, as in "SLEEP is the action of the fixed heuristic". */
  constructor(numEnvs: number, act: Act, actionSource: string) {
    this.#inference = new Inference(createWorld(), numEnvs);
    this.#act = act;
    this.#actionSource = actionSource;
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
    return `${words} ${spell(ACTION_NAMES[this.#actions[i]])} is the action of ${this.#actionSource}.`;
  }

  [Symbol.dispose](): void {}
}

/** Returns the fixed heuristic as a function of observations. */
function heuristicActions(): Act {
  const { params } = createWorld();
  return (observations, i) => {
    const at = i * OBSERVATION_SIZE;
    const meters = observations.subarray(at + OBSERVATION.meters, at + OBSERVATION.meters + NUM_METERS);
    return heuristicAction(params, observations[at + OBSERVATION.slot], meters);
  };
}

/** Returns the open-loop sequence as a function of the step. */
function openLoopSequenceActions(grader: string): Act {
  const actions = openLoopActions(sequenceGraderUnder(grader));
  return (_observations, _i, step) => actions[step];
}

const inferringPolicy = (
  name: string,
  sequenceGrader: SteppedPolicy['sequenceGrader'],
  act: (grader: string) => Act,
  actionSource: string,
): SteppedPolicy => ({
  ...{ name, actions: name, belief: 'own', oracle: false, objective: null, sequenceGrader },
  open: ({ numEnvs, grader }) => new InferringPlayer(numEnvs, act(grader.name), actionSource),
});

interface Variant extends Pick<PlannerOptions, 'inference'> {
  readonly objective: Objective;
}

const plannerPolicy = (name: string, variant: Variant): SteppedPolicy => ({
  ...{
    name,
    actions: name,
    belief: 'own',
    oracle: false,
    objective: variant.objective,
    sequenceGrader: () => null,
  },
  open: ({ objective = variant.objective, ...setting }) => new Planner({ ...setting, ...variant, objective }),
});

const ORACLE: SteppedPolicy = {
  ...plannerPolicy('planner-oracle', { objective: 'score' }),
  oracle: true,
  open: (setting, profiles) => new Planner({ ...setting, oracle: profiles() }),
};

/**
 * Policies that use observations, in the order of tables. They are slow, so they run only when they are named.
 */
export const STEPPED_POLICIES: readonly SteppedPolicy[] = [
  inferringPolicy('heuristic+inference', () => null, heuristicActions, 'the fixed heuristic'),
  inferringPolicy(
    'open-loop+inference',
    sequenceGraderUnder,
    openLoopSequenceActions,
    'a fixed sequence for all profiles',
  ),
  plannerPolicy('planner', { objective: 'score' }),
  plannerPolicy('planner-wellbeing', { objective: 'wellbeing' }),
  plannerPolicy('planner-prior', { objective: 'score', inference: false }),
  ORACLE,
];

export const STEPPED_NAMES: readonly string[] = STEPPED_POLICIES.map(({ name }) => name);

/** Returns a policy of either kind. @param further other valid names, for the error. @throws InputError `unknown_name`. */
export function findAnyPolicy(name: string, further: readonly string[] = []): Policy | SteppedPolicy {
  const policy = [...POLICIES, ...STEPPED_POLICIES].find((candidate) => candidate.name === name);
  if (policy !== undefined) return policy;
  const names = [...POLICY_NAMES, ...STEPPED_NAMES, ...further];
  throw new InputError(
    'unknown_name',
    `Expected a policy of ${names.join(', ')}; got ${JSON.stringify(name)}.${didYouMean(name, names)}`,
  );
}
