/** The mix of policies that play the episodes of a GRPO dataset. They differ in quality, so the states are diverse. */
import { openLoopActions } from '../../agents/policies/open-loop.js';
import { heuristicAction, randomAction } from '../../engine/reference/baselines.js';
import { below, type Draw, threefry } from '../../engine/reference/threefry.js';
import type { Params } from '../../world/block.js';
import { NUM_ACTIONS, NUM_SLOTS, NUM_STEPS } from '../../world/fields.js';

/** The input from which a policy chooses the next action. */
export interface PolicyInput {
  readonly params: Params;
  /** Returns a draw of the row: threefry of the dataset's seed, the row and the counter. Valid until the next call. */
  readonly draw: (counter: number) => Draw;
  /** The seed of the episode. */
  readonly seed: number;
  readonly step: number;
  /** f32 [5]: the meters of the last observation. */
  readonly meters: Float32Array;
}

type ChooseAction = (input: PolicyInput) => number;

export interface MixedPolicy {
  /** The name in rows and cards. */
  readonly name: string;
  /** The policy plays this many of `TOTAL_SHARE` rows, on average. */
  readonly share: number;
  /** A description for the card. */
  readonly description: string;
  readonly act: ChooseAction;
}

/** The counters of a row's draws: one for the row, one for each step, one for the actions of `habits`. */
const ROW_COUNTER = 0;
const STEP_COUNTER = 1;
const HABITS_COUNTER = STEP_COUNTER + NUM_STEPS;

/** One action in this many is random, on average. Chosen by hand. */
const ACTIONS_PER_DEVIATION = 4;
/** The number of actions that `habits` draws for a row. They may be equal. Chosen by hand. */
const NUM_HABITS = 3;
const sequence = openLoopActions('v2');

const random: ChooseAction = ({ params, seed, step, draw }) =>
  randomAction(params, seed, step, draw(ROW_COUNTER).x1);
const heuristic: ChooseAction = ({ params, step, meters }) =>
  heuristicAction(params, step % NUM_SLOTS, meters);
const openLoop: ChooseAction = ({ step }) => sequence[step];
/** Repeats a few actions at random, as a collapsed policy does. */
function habits({ draw, step }: PolicyInput): number {
  const which = below(draw(STEP_COUNTER + step).x0, NUM_HABITS);
  const { x0, x1 } = draw(HABITS_COUNTER);
  // `below` uses the high bits of a word. The third action uses the low half of x0, shifted up.
  return below([x0, x1, x0 << 16][which], NUM_ACTIONS);
}

/** Replaces one action in ACTIONS_PER_DEVIATION, on average, by a random one. */
const withDeviations =
  (act: ChooseAction): ChooseAction =>
  (input) => {
    const { x0, x1 } = input.draw(STEP_COUNTER + input.step);
    return below(x0, ACTIONS_PER_DEVIATION) === 0 ? below(x1, NUM_ACTIONS) : act(input);
  };
const DEVIATIONS = `one action in ${ACTIONS_PER_DEVIATION} is random`;

/** The shares are chosen by hand. A policy without random actions reaches one state per seed, profile and step. */
export const MIX_OF_POLICIES: readonly MixedPolicy[] = [
  { name: 'random', share: 4, description: 'the random policy, with another seed in each row', act: random },
  { name: 'heuristic', share: 2, description: 'the heuristic baseline', act: heuristic },
  {
    name: 'heuristic-deviating',
    share: 4,
    description: `the heuristic baseline; ${DEVIATIONS}`,
    act: withDeviations(heuristic),
  },
  {
    name: 'open-loop',
    share: 1,
    description: 'the open-loop sequence of grader v2, the same for every profile',
    act: openLoop,
  },
  {
    name: 'open-loop-deviating',
    share: 2,
    description: `the open-loop sequence; ${DEVIATIONS}`,
    act: withDeviations(openLoop),
  },
  {
    name: 'habits',
    share: 3,
    description: `each action at random from the row's own set of up to ${NUM_HABITS} actions`,
    act: habits,
  },
];

/** The sum of the policies' shares. */
export const TOTAL_SHARE = MIX_OF_POLICIES.reduce((sum, { share }) => sum + share, 0);
/** Each policy, as often as its share. */
const BY_SHARE = MIX_OF_POLICIES.flatMap((policy) => Array<MixedPolicy>(policy.share).fill(policy));

/** Returns the policy that plays a row's episode. */
export const policyOf = (draw: PolicyInput['draw']): MixedPolicy =>
  BY_SHARE[below(draw(ROW_COUNTER).x0, TOTAL_SHARE)];

/** The second word of the Threefry key of its draws: "GRPO" in ASCII. No stream of the published world has this number. */
const STREAM = 0x4752504f;
const drawn: Draw = { x0: 0, x1: 0 };

/** Returns the draws of a row. @param seed of the dataset. @param row the row's index. */
export const drawsOf =
  (seed: number, row: number): PolicyInput['draw'] =>
  (counter) =>
    threefry(seed, STREAM, row, counter, drawn);
