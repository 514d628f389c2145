/**
 * The verdict on a policy: the mean difference of its scores, in the same episodes, from the best policy that infers nothing.
 * Only if its whole interval lies above 0, the policy may have inferred something.
 */
import type { PolicyDescription } from '../agents/policies/fixed-policies.js';
import type { BuiltinPolicy } from '../agents/policies/stepped-policies.js';
import type { Grader } from '../engine/graders/grader.js';
import type { Env } from '../engine/node.js';
import { Moments } from '../shared/statistics.js';
import type { Condition } from '../world/conditions.js';
import type { EpisodeBatch } from './evaluate-options.js';
import { type NamedPolicy, type PlayOptions, playPolicy } from './play-policy.js';
import { measuredGrader, storedScores, YARDSTICK_POLICIES, type YardstickPolicy } from './stored-scores.js';
import { mayInfer, type Verdict } from './verdict.js';

/** The policies of the yardstick that play if their scores are not stored. `planner-prior` is too slow. */
const QUICK: readonly YardstickPolicy[] = ['open-loop', 'open-loop+constant', 'reactive+constant'];

/** Final scores of one batch by the policy's name, each f32 [n]. */
export type BatchScores = ReadonlyMap<string, Float32Array>;

/** Compares the policies of one condition with those of the yardstick, batch by batch. */
export class VerdictTally {
  readonly #isStored: boolean;
  readonly #grader: string;
  /** The policies that this tally plays. */
  readonly #played: readonly BuiltinPolicy[];
  readonly #means = new Map<YardstickPolicy, Moments>();
  readonly #differences = new Map<string, Moments>();

  private constructor(stored: string | null, played: readonly BuiltinPolicy[]) {
    this.#isStored = stored !== null;
    this.#grader = stored ?? '';
    this.#played = played;
  }

  /**
   * Returns null if there is nothing to compare: scores are not stored, and no policy may infer, so that none needs a verdict.
   * If scores are not stored, the tally plays the quick policies of the yardstick that are not among `policies`.
   */
  static async open(
    condition: Condition,
    policies: readonly NamedPolicy[],
    grader: Grader,
    worldDigest: string,
  ): Promise<VerdictTally | null> {
    const name = measuredGrader(grader.name, grader.weights, worldDigest);
    if (name !== null && storedScores(name, QUICK[0], condition.parts) !== null)
      return new VerdictTally(name, []);
    if (!policies.some((policy) => mayInfer(nameOf(policy)))) return null;
    const { findBuiltin } = await import('../agents/policies/stepped-policies.js');
    const missing = QUICK.filter((quick) => policies.every((policy) => policy.name !== quick));
    return new VerdictTally(
      null,
      missing.map((quick) => findBuiltin(quick)),
    );
  }

  /** Adds a batch. @param scores the scores of the policies that played. @throws as `playPolicy`. */
  async add(env: Env, batch: EpisodeBatch, scores: BatchScores, options: PlayOptions): Promise<void> {
    const known = new Map(scores);
    for (const policy of this.#played) {
      const { finalScores } = await playPolicy(env, batch, policy, options, null);
      known.set(policy.name, finalScores.slice());
    }
    for (const reference of YARDSTICK_POLICIES) {
      const others = this.#isStored ? this.#storedIn(reference, batch) : known.get(reference);
      if (others === undefined) continue;
      momentsAt(this.#means, reference).addAll(others);
      for (const [name, values] of scores)
        momentsAt(this.#differences, keyOf(name, reference)).addAll(
          Float64Array.from(values, (value, i) => value - others[i]),
        );
    }
  }

  #storedIn(policy: YardstickPolicy, { profile, seeds }: EpisodeBatch): Float32Array {
    const range = { first: seeds[0], last: seeds[seeds.length - 1] };
    return storedScores(this.#grader, policy, [{ profile, seeds: range }])!;
  }

  /** Returns the verdict on a policy. */
  verdictOn(name: string): Verdict {
    const known = YARDSTICK_POLICIES.filter((policy) => this.#means.has(policy));
    const meanOf = (policy: YardstickPolicy): number => this.#means.get(policy)!.interval().mean;
    const reference = known.reduce((best, policy) => (meanOf(policy) > meanOf(best) ? policy : best));
    return {
      reference,
      difference: this.#differences.get(keyOf(name, reference))!.interval(),
      missing: YARDSTICK_POLICIES.filter((policy) => !this.#means.has(policy)),
    };
  }
}

const nameOf = ({ name, usesHiddenState: oracle }: PolicyDescription) => ({ name, oracle });
const keyOf = (policy: string, reference: string): string => `${reference} ${policy}`;

/** Returns the moments under a key, which are added if they are missing. */
function momentsAt<Key>(moments: Map<Key, Moments>, key: Key): Moments {
  const found = moments.get(key) ?? new Moments();
  moments.set(key, found);
  return found;
}
