/** The colour of each policy, the same in every view. `colour-scheme.ts` sets it for light and dark. */
import { kindOf, type PolicyKind } from '../../../src/figures/theme.js';

/** Returns the CSS variable with the colour of a kind of policy. */
export const variableOf = (kind: PolicyKind): string => `--policy-${kind}`;

/** Returns the colour of a policy, as CSS. A policy of no known kind is a student that was trained on the page. */
export const colourOf = (policy: string): string => `var(${variableOf(kindOf(policy) ?? 'student')})`;

/** Returns whether an earlier policy of a chart has the same colour, so that policy k is dashed or hollow. */
export const isRepeated = (policies: readonly string[], k: number): boolean =>
  policies.slice(0, k).some((policy) => colourOf(policy) === colourOf(policies[k]));
