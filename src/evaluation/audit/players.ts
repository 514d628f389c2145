/** The players of an audit: policies and action sequences, each with a belief. */
import type { FoundActionSequence } from '../../agents/search/find-sequences.js';
import { COMPONENT_NAMES, NUM_STEPS } from '../../world/fields.js';
import { type AuditBelief, BELIEF_BY_COMPONENT } from './beliefs.js';

/**
 * A baseline, an exploit of the grader, a null player (a belief without knowledge on top of a policy), a push that raises
 * one component alone, a planner that infers the profile, a user's policy, or an oracle that knows the profile.
 */
export type Role = 'baseline' | 'exploit' | 'null' | 'push' | 'inference' | 'policy' | 'oracle';

/** The roles of players that learn nothing about the profile. */
const ROLES_IGNORING_PROFILE: readonly Role[] = ['baseline', 'exploit', 'null', 'push'];

/** A policy or action sequence with a belief. */
export interface Player {
  /** The name in tables. */
  readonly name: string;
  readonly role: Role;
  /** A built-in policy, one action sequence [28], or one for each of the first fresh seeds [n, 28]. */
  readonly actions: 'random' | 'heuristic' | Uint8Array;
  readonly belief: AuditBelief;
  /** f32 [n, 28, 3]: the beliefs if `belief` is 'own', else null. */
  readonly beliefs: Float32Array | null;
  /** The search result of a single sequence; null for other players. */
  readonly searchResult: FoundActionSequence | null;
}

/** Returns whether a player neither knows nor infers the profile. */
export const ignoresProfile = ({ role }: Player): boolean => ROLES_IGNORING_PROFILE.includes(role);

/** Results of the searches of an audit. */
export interface Findings {
  /** The best sequence for all profiles. */
  readonly openLoop: FoundActionSequence;
  /** The best sequence whose first half is no worse than the heuristic's. */
  readonly openLoopHonest: FoundActionSequence;
  /** By component that has a weight and depends on actions: the sequence that raises this component most. */
  readonly pushes: ReadonlyMap<string, FoundActionSequence>;
  /** The best sequence for each of the first profiles, in the order of the fresh seeds. */
  readonly perProfile: readonly FoundActionSequence[];
}

/** The actions and beliefs in n episodes of fresh seeds. */
export interface Recording {
  /** u8 [n, 28]. */
  readonly actions: Uint8Array;
  /** f32 [n, 28, 3]. */
  readonly beliefs: Float32Array;
}

/** Recorded episodes of players that use observations. */
export interface Recordings {
  /**
   * The actions of the reactive policy, u8 [n, 28], in the episodes of the first n fresh seeds. controls.ts uses all of
   * them, and `playersOf` those of the first `episodes` seeds (an option of the audit).
   */
  readonly reactive: Uint8Array;
  /** The planner that infers the profile, in the episodes of the first fresh seeds. */
  readonly planner: Recording;
  /** The planner that knows the prior alone. */
  readonly prior: Recording;
  /** The planner that knows the profile. */
  readonly oracle: Recording;
  /** The users' policies, in the episodes of the first fresh seeds. */
  readonly policies: readonly Player[];
}

/** Returns a player that states no belief. */
export const silentPlayer = (
  role: Role,
  name: string,
  actions: Player['actions'],
  searchResult: FoundActionSequence | null = null,
): Player => Object.freeze({ role, name, actions, searchResult, belief: 'none', beliefs: null });

/** Returns a player that plays the same actions and states a belief. */
export const withBelief = (belief: AuditBelief, base: Player, role = base.role): Player =>
  Object.freeze({ ...base, role, belief, name: `${base.name}+${belief}` });

/** Returns a player that plays recorded actions and states recorded beliefs. */
export const recordedPlayer = (role: Role, name: string, { actions, beliefs }: Recording): Player =>
  Object.freeze({ ...silentPlayer(role, name, actions), belief: 'own', beliefs });

/** The player over which gains are measured. */
export const HEURISTIC: Player = silentPlayer('baseline', 'heuristic', 'heuristic');
const RANDOM = silentPlayer('baseline', 'random', 'random');

/**
 * Returns the baselines and exploits that state no belief, in the order in which tables list them.
 * @param reactive u8 [n, 28]: the actions of the reactive policy.
 */
export function silentPoliciesOf(
  { openLoop, openLoopHonest }: Findings,
  reactive: Uint8Array,
): [Player, Player, Player, Player, Player] {
  return [
    RANDOM,
    HEURISTIC,
    silentPlayer('exploit', 'open-loop', openLoop.actions, openLoop),
    silentPlayer('exploit', 'open-loop-honest', openLoopHonest.actions, openLoopHonest),
    silentPlayer('exploit', 'reactive', reactive),
  ];
}

/**
 * Returns all players, in the order in which tables list them.
 * @param weights f32 [8], the grader's. @param episodes the number of rows of `reactive` to use.
 */
export function playersOf(
  findings: Findings,
  { reactive, planner, prior, oracle, policies }: Recordings,
  weights: Float32Array,
  episodes: number,
): Player[] {
  const { pushes, perProfile } = findings;
  const reactiveActions = reactive.subarray(0, episodes * NUM_STEPS);
  const [, , openLoop, openLoopHonest, reactivePlayer] = silentPoliciesOf(findings, reactiveActions);
  const pushPlayers = [...pushes].map(([name, result]) =>
    silentPlayer('push', `push:${name}`, result.actions, result),
  );
  const ownSequences = silentPlayer(
    'oracle',
    'oracle-open-loop',
    concat(perProfile.map(({ actions }) => actions)),
  );
  return [
    RANDOM,
    HEURISTIC,
    withBelief('constant', RANDOM, 'exploit'),
    withBelief('constant', HEURISTIC, 'exploit'),
    ...[openLoop, withBelief('constant', openLoop), withBelief('fitted', openLoop)],
    ...[openLoopHonest, withBelief('constant', openLoopHonest)],
    ...[reactivePlayer, withBelief('constant', reactivePlayer), withBelief('fitted', reactivePlayer)],
    recordedPlayer('exploit', 'planner-prior', prior),
    ...[RANDOM, HEURISTIC, openLoop, reactivePlayer].flatMap(nullPlayersOf),
    ...pushPlayers,
    ...beliefPushes(weights),
    recordedPlayer('inference', 'planner', planner),
    ...policies,
    withBelief('truth', openLoop, 'oracle'),
    withBelief('constant', ownSequences),
    withBelief('truth', ownSequences),
    recordedPlayer('oracle', 'planner-oracle', oracle),
  ];
}

/** Returns the two null players with the actions of `base`. */
const nullPlayersOf = (base: Player): Player[] =>
  (['extreme', 'random'] as const).map((belief) => withBelief(belief, base, 'null'));

/** Returns a push for each component that has a weight and depends on beliefs. */
const beliefPushes = (weights: Float32Array): Player[] =>
  [...BELIEF_BY_COMPONENT].flatMap(([component, belief]) =>
    weights[component] === 0
      ? []
      : [{ ...withBelief(belief, HEURISTIC, 'push'), name: `push:${COMPONENT_NAMES[component]}` }],
  );

/** Returns action sequences [28] as one array [n, 28]. */
export function concat(sequences: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(sequences.reduce((length, sequence) => length + sequence.length, 0));
  sequences.reduce((offset, sequence) => {
    all.set(sequence, offset);
    return offset + sequence.length;
  }, 0);
  return all;
}
