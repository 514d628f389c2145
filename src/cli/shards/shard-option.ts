/** The option `--shard`, which selects one part of a job. */
import { type Command, InvalidArgumentError } from 'commander';
import type { Shard } from '../../server/jobs/shard.js';

/** Adds `--shard`. */
export const addShardOption = (command: Command): Command =>
  command.option(
    '--shard <i/n>',
    'only part i of n, i from 0; merge joins the parts; auto/n takes i from Kubernetes or Slurm',
    // commander passes the earlier value as a second argument.
    (text) => parseShard(text),
  );

/** The variables that number the tasks of a Kubernetes Indexed Job and of a Slurm array. */
const VARIABLES = ['JOB_COMPLETION_INDEX', 'SLURM_ARRAY_TASK_ID'];
/** The maximum number of shards, chosen by hand. */
const MAX_SHARDS = 1_000_000;

/** Parses "2/8" or "auto/8". @throws InvalidArgumentError. */
export function parseShard(text: string, environment: NodeJS.ProcessEnv = process.env): Shard {
  const [, given, countText] = /^(auto|\d{1,7})\/(\d{1,7})$/.exec(text) ?? [];
  const count = Number(countText);
  if (given === undefined || count < 1 || count > MAX_SHARDS) {
    throw new InvalidArgumentError(`Expected i/n or auto/n with n from 1 to ${MAX_SHARDS}, such as 0/4.`);
  }
  const [index, origin] = given === 'auto' ? indexIn(environment) : [Number(given), null];
  if (index < count) return { index, count };
  const variable = origin === null ? '' : ` in ${origin}`;
  throw new InvalidArgumentError(
    `Expected an index from 0 to ${count - 1}${variable}, got ${index}. Number the ${count} shards from 0.`,
  );
}

/** Returns the index of this task, and the variable that has it. @throws InvalidArgumentError. */
function indexIn(environment: NodeJS.ProcessEnv): [index: number, variable: string] {
  const names = VARIABLES.filter((name) => (environment[name] ?? '') !== '');
  const [name] = names;
  if (name === undefined) {
    throw new InvalidArgumentError(
      `Expected ${VARIABLES.join(' or ')} in the environment, got neither. Run the command in a Kubernetes Indexed Job or a Slurm array, or pass i/n.`,
    );
  }
  const values = names.map((each) => `${each}=${environment[each]}`);
  if (new Set(names.map((each) => environment[each])).size > 1) {
    throw new InvalidArgumentError(
      `Expected one index, got ${values.join(' and ')}. Unset one of these variables, or pass i/n.`,
    );
  }
  if (/^\d{1,7}$/.test(environment[name]!)) return [Number(environment[name]), name];
  throw new InvalidArgumentError(`Expected a whole number in ${name}, got ${values[0]}. Pass i/n.`);
}
