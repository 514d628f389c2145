/** Policies that a user passes by name, in addition to the built-in policies. */

import type { BeliefKind } from '../agents/policies/fixed-policies.js';
import type { SteppedPolicy } from '../agents/policies/stepped-policies.js';
import {
  type CheckedPlayer,
  isPolicy,
  openChecked,
  type PolicyLike,
  type PolicySetting,
  type PolicyView,
} from '../engine/policy/policy.js';
import { InputError } from '../shared/errors.js';
import { isPrintable, PRINTABLE } from '../shared/names.js';
import { describe, wrongType } from '../shared/values.js';

/** The prefix of a language model's policy: "llm:MODEL". */
export const MODEL_PREFIX = 'llm:';

/** A user's policy under its name in results. */
export class UserPolicy implements SteppedPolicy<CheckedPlayer> {
  readonly kind = 'stepped';
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

  /** Opens the policy, with checks of what it returns. @throws as `openChecked`. */
  async open(setting: PolicySetting, signal?: AbortSignal): Promise<CheckedPlayer> {
    const player = await openChecked(this.name, this.policy, setting, signal);
    const act = async (view: PolicyView) => {
      const checked = await player.act(view);
      if (checked.beliefs !== null) this.statesBeliefs = true;
      return checked;
    };
    return { ...player, act };
  }
}

function refuseName(name: string): never {
  throw new InputError('unknown_name', {
    expected: `the policy's name to be ${PRINTABLE}, without a comma and not beginning with ${MODEL_PREFIX}`,
    got: describe(name),
    remedy: 'Pass the policy under another name.',
  });
}

function refusePolicy(name: string, got: unknown): never {
  throw wrongType(
    `the policy "${name}"`,
    'a function (view) => ({ actions, beliefs }), or an object with the function open',
    got,
    'docs/guides/policies.md has an example.',
  );
}
