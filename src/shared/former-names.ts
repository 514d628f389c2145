/** Names that an earlier release had: read in its files, refused everywhere else. */
import { snakeCase } from './letter-case.js';

/** Policies: the former name, then the name now. */
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

/** Options and keys of requests: the former name, then the name now. */
const OPTIONS: ReadonlyMap<string, string> = new Map([
  ['initialTapes', 'initialSequences'],
  ['leastEarlyMean', 'minFirstHalfMean'],
  ['persons', 'profiles'],
  ['tape', 'action_sequences'],
  ['tapes', 'action_sequences'],
  ['vecSlots', 'vecEnvs'],
]);

/** Fields whose names in files and on the wire are older than their names in code. */
const FIELDS: ReadonlyMap<string, string> = new Map([
  ['firstHalfMean', 'early_mean'],
  ['firstHalfMeans', 'early_means'],
  ['secondHalfMean', 'late_mean'],
  ['secondHalfMeans', 'late_means'],
  ['sequenceGrader', 'tape'],
  ['sequences', 'tapes'],
  ['gains', 'prices'],
  ['openLoop', 'blind_tape'],
  ['openLoopWithConstant', 'blind_tape_with_constant'],
]);

/** Returns the name now of a policy that a file names. */
export const currentPolicy = (name: string): string => POLICIES.get(name) ?? name;

/** Returns the name now of a former policy or option; undefined for any other name. */
export const renamed = (name: string): string | undefined => POLICIES.get(name) ?? OPTIONS.get(name);

/** Returns the name that a field has in files and on the wire. */
export const storedField = (name: string): string => FIELDS.get(name) ?? snakeCase(name);
