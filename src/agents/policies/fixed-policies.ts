/** The policies that every backend plays in one call: random, heuristic and open-loop, without and with the constant belief. */

import type { RunOptions } from '../../engine/node.js';
import type {
  EpisodeStarts,
  Policy,
  PolicyPlayer,
  PolicySetting,
  PolicyView,
} from '../../engine/policy/policy.js';
import { heuristicAction, randomAction } from '../../engine/reference/baselines.js';
import type { RunChoice } from '../../engine/vec-env/runs.js';
import { InputError } from '../../shared/errors.js';
import { didYouMean } from '../../shared/names.js';
import { NUM_BELIEFS, NUM_METERS, OBSERVATION, OBSERVATION_SIZE } from '../../world/fields.js';
import type { Objective } from '../planner/objectives.js';
import { openLoopActions, repeatActions, sequenceGraderUnder } from './open-loop.js';

/** The constant belief: the middle of each range, at every step. */
export const CONSTANT_BELIEF: readonly number[] = [0.5, 0.5, 0.5];

/** Returns the constant belief for each environment, f32 [numEnvs, 3]. */
export const constantBeliefs = (numEnvs: number): Float32Array =>
  Float32Array.from({ length: numEnvs * NUM_BELIEFS }, (_, k) => CONSTANT_BELIEF[k % NUM_BELIEFS]);

/** The source of a policy's beliefs: none, the constant belief, or the policy itself. */
export type BeliefKind = 'none' | 'constant' | 'own';

/** What a policy says about itself, whoever wrote it and however it plays. */
export interface PolicyDescription {
  /**
   * How the policy plays: 'fixed' if every backend plays it in one call, 'stepped' if it is called at each step, 'model' if it
   * requests each action from a language model.
   */
  readonly kind: 'fixed' | 'stepped' | 'model';
  /** The policy's name on the command line, with `+constant` for the constant belief. */
  readonly name: string;
  /** The policy's name in rows of results: `name` without `+constant`. */
  readonly actions: string;
  readonly belief: BeliefKind;
  readonly usesHiddenState: boolean;
  /** The planner's objective; null for a policy that does not plan. */
  readonly objective: Objective | null;
  /**
   * Returns the name of a grader: the policy plays the action sequence or the reactive policy that was found for it. `grader`
   * is the name of the episodes' grader. Null for policies that no search found.
   */
  sequenceGrader(grader: string): string | null;
}

/** The actions and beliefs of a fixed policy. */
interface FixedActions {
  /** u8 [n]: codes. Newly allocated. */
  readonly actions: Uint8Array;
  /** f32 [n, 3], newly allocated; null without beliefs. */
  readonly beliefs: Float32Array | null;
}

/** A player of a fixed policy, which does step by step what the backends do in one call. Its methods return no promises. */
export interface FixedPlayer extends PolicyPlayer {
  reset(episodes: EpisodeStarts): void;
  act(view: PolicyView): FixedActions;
  reasons?(i: number): string;
  [Symbol.dispose](): void;
}

/** A policy that every backend plays in one call. */
export interface FixedPolicy extends PolicyDescription, Policy {
  readonly kind: 'fixed';
  readonly usesHiddenState: boolean;
  /** Opens the policy as a player that is called at each step. */
  open(setting: PolicySetting): FixedPlayer;
  /** Returns the argument of `VecEnv.run` for a number of environments and a grader's name. */
  choice(numEnvs: number, grader: string): RunChoice;
  /** The options of `VecEnv.run` that state the belief. */
  readonly options: Pick<RunOptions, 'beliefs'>;
}

/** A policy that plays episodes in one call: a fixed one, or a replay of what a language model chose. */
export type WholeEpisodePolicy = Pick<FixedPolicy, 'kind' | 'choice' | 'options'>;

/** How a fixed policy chooses actions. */
type ActionPolicy = Pick<FixedPolicy, 'actions' | 'open' | 'choice' | 'sequenceGrader'>;

/** The default seed of policies in `VecEnv.run`. */
const POLICY_SEED = 0;

const ACTION_POLICIES: readonly ActionPolicy[] = [
  {
    actions: 'random',
    open: ({ numEnvs, world }) => {
      const seeds = new Uint32Array(numEnvs);
      return playerOf(
        ({ steps }, i) => randomAction(world.params, seeds[i], steps[i], POLICY_SEED),
        (episodes) => {
          for (const [i, begins] of episodes.mask.entries()) if (begins === 1) seeds[i] = episodes.seeds[i];
        },
      );
    },
    choice: () => 'random',
    sequenceGrader: () => null,
  },
  {
    actions: 'heuristic',
    open: ({ world }) =>
      playerOf(({ observations }, i) => {
        const at = i * OBSERVATION_SIZE;
        const meters = observations.subarray(at + OBSERVATION.meters, at + OBSERVATION.meters + NUM_METERS);
        return heuristicAction(world.params, observations[at + OBSERVATION.slot], meters);
      }),
    choice: () => 'heuristic',
    sequenceGrader: () => null,
  },
  {
    // Plays the sequence found for the grader in use, or for v2 under a grader without one.
    actions: 'open-loop',
    open: ({ grader }) => {
      // '' names no grader.
      const actions = openLoopActions(sequenceGraderUnder(grader?.name ?? ''));
      // After the 28th step the sequence has no action. The caller ignores the 0 that is returned for such an environment.
      return playerOf(({ steps }, i) => actions[steps[i]] ?? 0);
    },
    choice: (numEnvs, grader) => repeatActions(openLoopActions(sequenceGraderUnder(grader)), numEnvs),
    sequenceGrader: sequenceGraderUnder,
  },
];

/** Returns a player that computes the action of one environment at a time. */
function playerOf(
  action: (view: PolicyView, i: number) => number,
  reset: FixedPlayer['reset'] = () => {},
): FixedPlayer {
  return {
    reset,
    act: (view) => ({ actions: Uint8Array.from(view.steps, (_, i) => action(view, i)), beliefs: null }),
    [Symbol.dispose]() {},
  };
}

/** Returns a policy's name, with `+constant` for the constant belief. */
export const policyName = ({ policy, belief }: { policy: string; belief: BeliefKind }): string =>
  belief === 'constant' ? `${policy}+constant` : policy;

const withBelief = (base: ActionPolicy, belief: 'none' | 'constant'): FixedPolicy => ({
  ...base,
  kind: 'fixed',
  name: policyName({ policy: base.actions, belief }),
  belief,
  usesHiddenState: false,
  objective: null,
  open: belief === 'none' ? base.open : (setting) => statingConstant(base.open(setting), setting.numEnvs),
  options: belief === 'none' ? {} : { beliefs: CONSTANT_BELIEF },
});

/** Returns a player with the same actions that states the constant belief. */
const statingConstant = (player: FixedPlayer, numEnvs: number): FixedPlayer => ({
  ...player,
  act: (view) => ({ ...player.act(view), beliefs: constantBeliefs(numEnvs) }),
});

/** All fixed policies, in the order in which tables list them. */
export const POLICIES: readonly FixedPolicy[] = (['none', 'constant'] as const).flatMap((belief) =>
  ACTION_POLICIES.map((base) => withBelief(base, belief)),
);

/** The names of POLICIES. */
export const POLICY_NAMES: readonly string[] = POLICIES.map((policy) => policy.name);

/** The policy with which all others are compared, on the same seeds. */
export const BASELINE: FixedPolicy = findPolicy('heuristic');

/** Returns the policy with a name. @throws InputError `unknown_name`, with a list of the policies. */
export function findPolicy(name: string): FixedPolicy {
  const policy = POLICIES.find((candidate) => candidate.name === name);
  if (policy !== undefined) return policy;
  throw new InputError(
    'unknown_name',
    `Expected one of the policies ${POLICY_NAMES.join(', ')}; got ${JSON.stringify(name)}.${didYouMean(name, POLICY_NAMES)}`,
  );
}
