/** Stryker plugin that runs a random sample of the mutants: MUTATE_SHARE of them, which MUTATE_SEED and their ids choose. */
import { createHash } from 'node:crypto';

const share = Number(process.env.MUTATE_SHARE);
const seed = process.env.MUTATE_SEED;

export function isInSample({ id }) {
  const digest = createHash('sha256').update(`${seed} ${id}`).digest();
  return digest.readUInt32BE() < share * 2 ** 32;
}

/** Stryker counts no mutant that a checker refuses. */
class Sample {
  async init() {}

  async check(mutants) {
    const check = (mutant) =>
      isInSample(mutant) ? { status: 'passed' } : { status: 'compileError', reason: 'not in the sample' };
    return Object.fromEntries(mutants.map((mutant) => [mutant.id, check(mutant)]));
  }

  /** Stryker checks all mutants of a group at once. */
  async group(mutants) {
    return [mutants.map(({ id }) => id)];
  }
}

export const strykerPlugins = [{ kind: 'Checker', name: 'sample', injectableClass: Sample }];
