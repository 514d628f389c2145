/** The colours of each kind of policy, the same in figures, reports and the demo page. */
import { SERIES } from './theme.js';

/** A colour for light backgrounds, and one for dark backgrounds. */
interface Shades {
  readonly light: string;
  readonly dark: string;
}

/**
 * The kinds of policies. `open-loop`: also the reactive policy. `inference`: a policy with inferred beliefs added. `hand`: the visitor of the page. `teacher`: what a
 * student imitates while it trains.
 */
export type PolicyKind =
  | 'hand'
  | 'random'
  | 'heuristic'
  | 'open-loop'
  | 'inference'
  | 'planner'
  | 'student'
  | 'oracle'
  | 'teacher';

/**
 * The colours by kind. Their contrast with the background is at least 3, and colour-blind readers can tell them apart:
 * test/figures/colours.test.ts computes both. No colour has another meaning.
 */
export const POLICY_COLOURS: Readonly<Record<PolicyKind, Shades>> = {
  hand: { light: '#5e175a', dark: '#ae5497' },
  random: { light: '#6c7774', dark: '#9c9f9c' },
  heuristic: { light: '#1d5aae', dark: '#3adff7' },
  'open-loop': { light: '#661700', dark: '#e59b05' },
  inference: { light: '#004730', dark: '#1b9f64' },
  planner: { light: '#a24d8f', dark: '#e478f8' },
  student: { light: '#1e7128', dark: '#7cc87d' },
  oracle: { light: '#c51721', dark: '#a8561b' },
  teacher: { light: '#09238a', dark: '#685ade' },
};

export const POLICY_KINDS = Object.keys(POLICY_COLOURS) as readonly PolicyKind[];

/** Patterns of the policies' names, and their kinds. The first pattern that matches a name decides. */
const PATTERNS: readonly (readonly [name: RegExp, kind: PolicyKind])[] = [
  [/^(hand|you)$/, 'hand'],
  [/^teacher$/, 'teacher'],
  [/\boracle\b/, 'oracle'],
  [/^planner(-|$| )/, 'planner'],
  [/^student(-|$| )/, 'student'],
  [/\+inference\b/, 'inference'],
  [/^heuristic(\+|$| )/, 'heuristic'],
  [/^(open-loop|reactive)(-|\+|$| )/, 'open-loop'],
  [/^random(\+|$| )/, 'random'],
];

/**
 * Returns the kind of a policy by its name: `heuristic` for "heuristic+constant", whose actions are those of the heuristic.
 * Null if the policy is of no kind, such as a language model.
 */
export const kindOf = (name: string): PolicyKind | null =>
  PATTERNS.find(([pattern]) => pattern.test(name))?.[1] ?? null;

/**
 * Returns the colour of a player on light backgrounds, which `svgOf` replaces on dark ones; SERIES if the player is of no kind.
 */
export function colourOfPlayer(name: string): string {
  const kind = kindOf(name);
  return kind === null ? SERIES : POLICY_COLOURS[kind].light;
}
