/** The policies of the yardstick, which infer nothing, and their stored scores in the episodes of the standard conditions. */
import { POLICY_NAMES } from '../agents/policies/fixed-policies.js';
import { type GraderWeights, toGrader } from '../engine/graders/grader.js';
import { CONDITIONS, type Condition, type Part } from '../world/conditions.js';
import { COMPONENT_NAMES, GRADER_NAMES } from '../world/fields.js';
import { MEASURED_EPISODES } from './measured-episodes.js';

/**
 * The policies of the yardstick. The first states no belief: under a grader that weighs `belief_skill`, the belief
 * [0.5, 0.5, 0.5] of the others can cost more than it earns, as with the named profiles under v3.
 */
export const YARDSTICK_POLICIES = [
  'open-loop',
  'open-loop+constant',
  'reactive+constant',
  'planner-prior',
] as const;

/** The name of a policy of the yardstick. */
export type YardstickPolicy = (typeof YARDSTICK_POLICIES)[number];

/** The built-in policies that infer nothing. */
export const INFER_NOTHING: ReadonlySet<string> = new Set([...POLICY_NAMES, ...YARDSTICK_POLICIES]);

/** The conditions whose episodes have stored scores. `discrete` has those of all named profiles. */
export const STORED_CONDITIONS: readonly Condition[] = CONDITIONS.filter(
  ({ name }) => !name.startsWith('discrete:'),
);

/** Returns the stored scores of a policy, f32 in the order of STORED_CONDITIONS; null if there are none. */
function decoded(grader: string, policy: YardstickPolicy): Float32Array | null {
  const { scores } = MEASURED_EPISODES;
  if (!Object.hasOwn(scores, grader)) return null;
  const bytes = Uint8Array.from(atob(scores[grader as keyof typeof scores][policy]), (character) =>
    character.charCodeAt(0),
  );
  const view = new DataView(bytes.buffer);
  return Float32Array.from({ length: bytes.length / 4 }, (_, i) => view.getFloat32(4 * i, true));
}

/**
 * Returns the stored final scores of a policy of the yardstick, which played for the grader; null if an episode has none.
 * @param grader a grader's name in MEASURED_EPISODES. @param parts the episodes: seeds with their profiles.
 */
export function storedScores(
  grader: string,
  policy: YardstickPolicy,
  parts: readonly Part[],
): Float32Array | null {
  const all = decoded(grader, policy);
  if (all === null) return null;
  const scores: number[] = [];
  for (const { profile, seeds } of parts) {
    let at = 0;
    const stored = STORED_CONDITIONS.flatMap((condition) => condition.parts).find((part) => {
      if (part.profile === profile && part.seeds.first <= seeds.first && seeds.last <= part.seeds.last)
        return true;
      at += part.seeds.last - part.seeds.first + 1;
      return false;
    });
    if (stored === undefined) return null;
    const first = at + seeds.first - stored.seeds.first;
    scores.push(...all.subarray(first, first + seeds.last - seeds.first + 1));
  }
  return Float32Array.from(scores);
}

/** Returns the built-in grader with the same name or weights; null if there is none, or for another world. */
export function measuredGrader(
  grader: string,
  weights: GraderWeights | undefined,
  worldDigest: string,
): string | null {
  if (worldDigest !== MEASURED_EPISODES.worldDigest) return null;
  const hasWeightsOf = (name: string): boolean =>
    weights !== undefined &&
    // As float32, because backends compute with these.
    COMPONENT_NAMES.every(
      (component) => Math.fround(weights[component]) === Math.fround(toGrader(name).weights[component]),
    );
  return GRADER_NAMES.find((name) => name === grader || hasWeightsOf(name)) ?? null;
}
