/** The players of an audit: policies and action sequences, each with a belief. */
import type { FoundActionSequence } from '../../agents/search/find-sequences.js';
import { COMPONENT_NAMES } from '../../world/fields.js';

/** A baseline, an exploit of the grader, a push that raises one component alone, or an oracle that knows the profile. */
export type Role = 'baseline' | 'exploit' | 'push' | 'oracle';

/** The belief at every step: none, a constant, the median of the targets, or the truth. */
export type AuditBelief = 'none' | 'constant' | 'median' | 'truth';

/** Actions with a belief. */
export interface Player {
  /** The name in tables: the actions, then the belief after a plus. */
  readonly name: string;
  readonly role: Role;
  /** A built-in policy, one action sequence [28], or one for each profile [profiles, 28]. */
  readonly actions: 'random' | 'heuristic' | Uint8Array;
  readonly belief: AuditBelief;
  /** The search result of a single sequence; null for other players. */
  readonly found: FoundActionSequence | null;
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

const player = (
  role: Role,
  name: string,
  actions: Player['actions'],
  found: FoundActionSequence | null = null,
) => Object.freeze({ role, name, actions, found, belief: 'none' as AuditBelief });

const believing = (belief: AuditBelief, of: Player, role = of.role): Player =>
  Object.freeze({ ...of, role, belief, name: `${of.name}+${belief}` });

export const HEURISTIC: Player = player('baseline', 'heuristic', 'heuristic');
const RANDOM = player('baseline', 'random', 'random');

/** Returns all players in the order of tables. @param weights f32 [6], the grader's. */
export function playersOf(findings: Findings, weights: Float32Array): Player[] {
  const { openLoop, openLoopHonest, pushed, perProfile } = findings;
  const forAll = player('exploit', 'open-loop', openLoop.actions, openLoop);
  const honest = player('exploit', 'open-loop-honest', openLoopHonest.actions, openLoopHonest);
  const pushes = [...pushed].map(([name, found]) => player('push', `push:${name}`, found.actions, found));
  const oracle = player('oracle', 'oracle-open-loop', concat(perProfile.map(({ actions }) => actions)));
  const beliefPush = { ...believing('median', HEURISTIC, 'push'), name: 'push:belief_accuracy' };
  return [
    RANDOM,
    HEURISTIC,
    believing('constant', RANDOM, 'exploit'),
    believing('constant', HEURISTIC, 'exploit'),
    forAll,
    believing('constant', forAll),
    honest,
    believing('constant', honest),
    ...pushes,
    ...(weights[BELIEF_COMPONENT] === 0 ? [] : [beliefPush]),
    believing('truth', forAll, 'oracle'),
    believing('constant', oracle),
    believing('truth', oracle),
  ];
}

function concat(sequences: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(sequences.reduce((length, sequence) => length + sequence.length, 0));
  sequences.reduce((at, sequence) => {
    all.set(sequence, at);
    return at + sequence.length;
  }, 0);
  return all;
}
