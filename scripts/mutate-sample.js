/**
 * Stryker plugin that runs a random sample of the mutants (the share MUTATE_SHARE, chosen by MUTATE_SEED and their ids)
 * and prints those that no test detects.
 */
import { createHash } from 'node:crypto';
import { relative } from 'node:path';

const share = Number(process.env.MUTATE_SHARE);
const seed = process.env.MUTATE_SEED;

export function isInSample({ id }) {
  const digest = createHash('sha256').update(`${seed} ${id}`).digest();
  return digest.readUInt32BE() < share * 2 ** 32;
}

/** Rejects the mutants outside the sample. Rejected mutants do not count in Stryker's score. */
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

/** Prints survivors as soon as they are found. */
class Survivors {
  onMutantTested({ status, fileName, location, mutatorName, replacement }) {
    if (status !== 'Survived' && status !== 'NoCoverage') return;
    const { line, column } = location.start;
    console.log(`${status} ${relative('', fileName)}:${line}:${column} ${mutatorName}: ${replacement}`);
  }
}

export const strykerPlugins = [
  { kind: 'Checker', name: 'sample', injectableClass: Sample },
  { kind: 'Reporter', name: 'survivors', injectableClass: Survivors },
];
