/** Refuses the options by which earlier releases named a teacher. The error says what to pass instead. */
import { currentPolicy } from '../../shared/former-names.js';
import { UsageError } from '../command-errors.js';
import { shellWord } from '../shell-word.js';

/** Hidden options of `teach`. */
export interface FormerOptions {
  readonly teacher?: string;
  readonly model?: string;
  readonly variant?: string;
  readonly objective?: string;
}

/** The flags of these options. */
export const FORMER_OPTIONS: Readonly<Record<keyof FormerOptions, string>> = {
  teacher: '--teacher',
  model: '--model',
  variant: '--variant',
  objective: '--objective',
};

/** Refuses former options. @param policy the value of --policy. @throws UsageError with the remedy. */
export function refuseFormerOptions(options: FormerOptions, policy: string | undefined): void {
  const given = Object.entries(FORMER_OPTIONS)
    .filter(([name]) => options[name as keyof FormerOptions] !== undefined)
    .map(([, flag]) => flag);
  if (given.length === 0) return;
  const names = 'which names the teacher and its objective';
  const flags = given.join(' and ');
  throw new UsageError(
    policy === undefined
      ? `Expected --policy, ${names} as eval does, got ${flags}. Pass --policy ${spellingOf(options)}.`
      : `Expected no ${given.join(' and no ')} with --policy, ${names}, got ${flags}. Leave ${flags} out.`,
  );
}

/** Returns the value of --policy that replaces former options. */
function spellingOf({ teacher, model, variant = 'planner', objective = 'wellbeing' }: FormerOptions): string {
  if (teacher === 'llm' || model !== undefined) return shellWord(`llm:${model ?? 'MODEL'}`);
  const policy = currentPolicy(variant);
  if (policy === 'planner') return objective === 'score' ? policy : 'planner-wellbeing';
  // These policies have no variant that plans for wellbeing.
  const losesObjective = ['planner-prior', 'planner-oracle'].includes(policy) && objective !== 'score';
  return `${shellWord(policy)}${losesObjective ? ', which plans for the score' : ''}`;
}
