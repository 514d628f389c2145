/** Names of earlier releases. Files may contain them; options and requests may not. Some stored fields keep them. */
import { snakeCase } from './letter-case.js';

/** Policies: former name, current name. */
const POLICIES: ReadonlyMap<string, string> = new Map([
  ['blind-tape', 'open-loop'],
  ['blind-tape+constant', 'open-loop+constant'],
  ['blind-tape+inference', 'open-loop+inference'],
  ['blind-tape+truth', 'open-loop+truth'],
  ['blind-tape-deviating', 'open-loop-deviating'],
  ['honest-tape', 'open-loop-honest'],
  ['honest-tape+constant', 'open-loop-honest+constant'],
  ['oracle+constant', 'oracle-open-loop+constant'],
  ['oracle+truth', 'oracle-open-loop+truth'],
]);

/** Options and keys of requests: former name, current name. */
const OPTIONS: ReadonlyMap<string, string> = new Map([
  ['initialTapes', 'initialSequences'],
  ['leastEarlyMean', 'minFirstHalfMean'],
  ['people', 'posteriorSamples'],
  ['persons', 'profiles'],
  ['tape', 'action_sequences'],
  ['tapes', 'action_sequences'],
  ['vecSlots', 'vecEnvs'],
]);

/** Fields that keep a former name in files and on the wire: name in code, stored name. */
const FIELDS: ReadonlyMap<string, string> = new Map([
  ['firstHalfMean', 'early_mean'],
  ['firstHalfMeans', 'early_means'],
  ['secondHalfMean', 'late_mean'],
  ['secondHalfMeans', 'late_means'],
  // The grader whose open-loop sequence a policy plays.
  ['sequenceGrader', 'tape'],
  ['sequences', 'tapes'],
  ['gains', 'prices'],
  ['openLoop', 'blind_tape'],
  ['openLoopWithConstant', 'blind_tape_with_constant'],
]);

/** Returns the current name of a policy. */
export const currentPolicy = (name: string): string => POLICIES.get(name) ?? name;

/** The player of an episode in files. */
interface StoredPlayer {
  readonly teacher: string | null;
  readonly model: string | null;
  readonly objective: string | null;
}

/** Current names of the policies that earlier releases stored as the model of the teacher "planner". */
const PLANNER_MODELS: readonly string[] = [
  'heuristic+inference',
  'open-loop+inference',
  'planner-prior',
  'planner-oracle',
];

/** Returns a stored player under the name that `eval` has for its policy. */
export function currentPlayer<Stored extends StoredPlayer>(stored: Stored): Stored {
  const { teacher, model, objective } = stored;
  if (teacher !== 'planner') return stored;
  if (model === null) return objective === 'wellbeing' ? { ...stored, teacher: 'planner-wellbeing' } : stored;
  const policy = currentPolicy(model);
  return PLANNER_MODELS.includes(policy) ? { ...stored, teacher: policy, model: null } : stored;
}

/** Returns the current name for a former name of a policy or option, and undefined for any other name. */
export const renamed = (name: string): string | undefined => POLICIES.get(name) ?? OPTIONS.get(name);

/** Returns the name that a field has in files and on the wire. */
export const storedField = (name: string): string => FIELDS.get(name) ?? snakeCase(name);
