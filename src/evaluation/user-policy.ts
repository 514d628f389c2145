/** Policies that a user passes by name, in addition to the built-in policies. */

import type { BeliefKind } from '../agents/policies/fixed-policies.js';
import { isPolicy, type PolicyLike } from '../engine/policy/policy.js';
import { InputError } from '../shared/errors.js';
import { isPrintable, PRINTABLE } from '../shared/printable-names.js';
import { describe } from '../shared/values.js';

/** The prefix of a language model's policy: "llm:MODEL". */
export const MODEL_PREFIX = 'llm:';

/** A user's policy under its name in results. */
export class UserPolicy {
  readonly name: string;
  /** The policy's name in results, without its belief. Here it equals `name`. */
  readonly actions: string;
  readonly objective = null;
  readonly policy: PolicyLike;
  /** Whether the policy has stated a belief so far. */
  statesBeliefs = false;

  /** Checks the name and the type of the policy. @throws InputError `wrong_type` or `unknown_name`. */
  constructor(name: string, policy: PolicyLike) {
    if (!isPrintable(name) || name.includes(',') || name.startsWith(MODEL_PREFIX)) refuseName(name);
    if (!isPolicy(policy)) refusePolicy(name, policy);
    this.name = name;
    this.actions = name;
    this.policy = policy;
  }

  get belief(): BeliefKind {
    return this.statesBeliefs ? 'own' : 'none';
  }

  get usesHiddenState(): boolean {
    return typeof this.policy !== 'function' && this.policy.usesHiddenState === true;
  }

  /** Returns null, because a user's policy plays no sequence that a search found for a grader. */
  sequenceGrader(): null {
    return null;
  }
}

function refuseName(name: string): never {
  throw new InputError(
    'unknown_name',
    `Expected the policy's name to be ${PRINTABLE}, without a comma and not beginning with ${MODEL_PREFIX}, got ` +
      `${describe(name)}. Pass the policy under another name.`,
  );
}

function refusePolicy(name: string, got: unknown): never {
  throw new InputError(
    'wrong_type',
    `Expected the policy "${name}" to be a function (view) => ({ actions, beliefs }), or an object with the function ` +
      `open, got ${describe(got)}. docs/guides/policies.md has an example.`,
  );
}
