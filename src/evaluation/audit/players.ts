/** The players of an audit: policies and action sequences, each with a belief. */
import type { FoundActionSequence } from '../../agents/search/find-sequences.js';
import { COMPONENT_NAMES } from '../../world/fields.js';

/** A baseline, an exploit of the grader, a push that raises one component alone, or an oracle that knows the profile. */
export type Role = 'baseline' | 'exploit' | 'push' | 'oracle';

/** The belief at every step: none, a constant, the median of the targets, or the truth. */
export type AuditBelief = 'none' | 'constant' | 'median' | 'truth';

/** A policy or action sequence with a belief. */
export interface Player {
  /** The name in tables: the actions, then the belief after a plus. */
  readonly name: string;
  readonly role: Role;
  /** A built-in policy, one action sequence [28], or one for each profile [profiles, 28]. */
  readonly actions: 'random' | 'heuristic' | Uint8Array;
  readonly belief: AuditBelief;
  /** The search result of a single sequence; null for other players. */
  readonly searchResult: FoundActionSequence | null;
}

/** Results of the searches of an audit. */
export interface Findings {
  /** The best sequence for all profiles. */
  readonly openLoop: FoundActionSequence;
  /** The best sequence whose first half is no worse than the heuristic's. */
  readonly openLoopHonest: FoundActionSequence;
  /** The best sequence for each component that has a weight and depends on actions. */
  readonly pushed: ReadonlyMap<string, FoundActionSequence>;
  /** The best sequence for each of the first profiles, in the order of the fresh seeds. */
  readonly perProfile: readonly FoundActionSequence[];
}

/** The component that depends on beliefs, not on actions. */
export const BELIEF_COMPONENT = COMPONENT_NAMES.indexOf('belief_accuracy');

/** Returns a player that states no belief. */
const silentPlayer = (
  role: Role,
  name: string,
  actions: Player['actions'],
  searchResult: FoundActionSequence | null = null,
) => Object.freeze({ role, name, actions, searchResult, belief: 'none' as AuditBelief });

/** Returns a player that plays the same actions and states a belief. */
const withBelief = (belief: AuditBelief, base: Player, role = base.role): Player =>
  Object.freeze({ ...base, role, belief, name: `${base.name}+${belief}` });

export const HEURISTIC: Player = silentPlayer('baseline', 'heuristic', 'heuristic');
const RANDOM = silentPlayer('baseline', 'random', 'random');

/** Returns all players in the order of tables. @param weights f32 [6], the grader's. */
export function playersOf(findings: Findings, weights: Float32Array): Player[] {
  const { openLoop, openLoopHonest, pushed, perProfile } = findings;
  const forAll = silentPlayer('exploit', 'open-loop', openLoop.actions, openLoop);
  const honest = silentPlayer('exploit', 'open-loop-honest', openLoopHonest.actions, openLoopHonest);
  const pushes = [...pushed].map(([name, result]) =>
    silentPlayer('push', `push:${name}`, result.actions, result),
  );
  const oracle = silentPlayer('oracle', 'oracle-open-loop', concat(perProfile.map(({ actions }) => actions)));
  const beliefPush = { ...withBelief('median', HEURISTIC, 'push'), name: 'push:belief_accuracy' };
  return [
    RANDOM,
    HEURISTIC,
    withBelief('constant', RANDOM, 'exploit'),
    withBelief('constant', HEURISTIC, 'exploit'),
    forAll,
    withBelief('constant', forAll),
    honest,
    withBelief('constant', honest),
    ...pushes,
    ...(weights[BELIEF_COMPONENT] === 0 ? [] : [beliefPush]),
    withBelief('truth', forAll, 'oracle'),
    withBelief('constant', oracle),
    withBelief('truth', oracle),
  ];
}

function concat(sequences: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(sequences.reduce((length, sequence) => length + sequence.length, 0));
  sequences.reduce((offset, sequence) => {
    all.set(sequence, offset);
    return offset + sequence.length;
  }, 0);
  return all;
}
