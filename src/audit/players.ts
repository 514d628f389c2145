/** Who plays in an audit. */
import type { FoundTape } from '../search/tapes.js';
import { COMPONENT_NAMES } from '../world/fields.js';

/** Why a player is there: to be compared with, to exploit the grader, to push one component, or to know the person. */
export type Role = 'baseline' | 'exploit' | 'push' | 'oracle';

/** What is believed at every step: nothing, one belief whoever it is, or what is true of the person. */
export type AuditBelief = 'none' | 'constant' | 'median' | 'truth';

export interface Player {
  /** As tables call it: the actions, and the belief after a plus. */
  readonly name: string;
  readonly role: Role;
  /** What a backend plays by itself, a tape for everybody [28], or a tape a person [persons, 28]. */
  readonly actions: 'random' | 'heuristic' | Uint8Array;
  readonly belief: AuditBelief;
  /** How a tape was found; null for what was not searched for. */
  readonly found: FoundTape | null;
}

/** What the searches of an audit found. */
export interface Findings {
  /** The best tape for everybody. */
  readonly blind: FoundTape;
  /** The same, with a first half of the week no worse than the heuristic's. */
  readonly honest: FoundTape;
  /** The best tape for each component that weighs something and that actions decide. */
  readonly pushed: ReadonlyMap<string, FoundTape>;
  /** The best tape for each person whom it was searched for, in the order of the fresh seeds. */
  readonly personal: readonly FoundTape[];
}

/** The component that beliefs decide, not actions. */
export const BELIEF_COMPONENT = COMPONENT_NAMES.indexOf('belief_accuracy');

const player = (role: Role, name: string, actions: Player['actions'], found: FoundTape | null = null) =>
  Object.freeze({ role, name, actions, found, belief: 'none' as AuditBelief });

const believing = (belief: AuditBelief, of: Player, role = of.role): Player =>
  Object.freeze({ ...of, role, belief, name: `${of.name}+${belief}` });

export const HEURISTIC: Player = player('baseline', 'heuristic', 'heuristic');
const RANDOM = player('baseline', 'random', 'random');

/** All players of an audit, in the order in which a table shows them. @param weights f32 [6], the grader's. */
export function playersOf({ blind, honest, pushed, personal }: Findings, weights: Float32Array): Player[] {
  const forAll = player('exploit', 'blind-tape', blind.tape, blind);
  const decent = player('exploit', 'honest-tape', honest.tape, honest);
  const pushes = [...pushed].map(([name, found]) => player('push', `push:${name}`, found.tape, found));
  const oracle = player('oracle', 'oracle', concat(personal.map(({ tape }) => tape)));
  const beliefPush = { ...believing('median', HEURISTIC, 'push'), name: 'push:belief_accuracy' };
  return [
    RANDOM,
    HEURISTIC,
    believing('constant', RANDOM, 'exploit'),
    believing('constant', HEURISTIC, 'exploit'),
    forAll,
    believing('constant', forAll),
    decent,
    believing('constant', decent),
    ...pushes,
    ...(weights[BELIEF_COMPONENT] === 0 ? [] : [beliefPush]),
    believing('truth', forAll, 'oracle'),
    believing('constant', oracle),
    believing('truth', oracle),
  ];
}

function concat(tapes: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(tapes.reduce((length, tape) => length + tape.length, 0));
  tapes.reduce((at, tape) => {
    all.set(tape, at);
    return at + tape.length;
  }, 0);
  return all;
}
