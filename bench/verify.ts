/** Compares the outputs of a case with those of the reference, bit by bit, before it is timed. */
import type { Case } from './cases.js';
import type { Elements, Left, Play, Rig, Setting } from './rig.js';

/** The error for outputs that differ. */
export class Mismatch extends Error {}

/** Returns the title of a case. */
export const titleOf = ({ backend, kernel, name, threads, episodes, layout }: Setting & { name: string }) =>
  `${kernel ?? backend}, ${name}, ${layout}, ${episodes} episodes, threads ${threads}`;

/** Returns copies of the outputs after each call of a play. */
function watch(rig: Rig): Left[] {
  const results: Left[] = [];
  rig.begin();
  rig.play(() => results.push(rig.left()));
  return results;
}

/** The outputs of the reference, cached: kernels share them. */
export class Truths {
  readonly #known = new Map<Play, Map<string, readonly Left[]>>();

  of({ truth, episodes, layout }: Pick<Case, 'truth' | 'episodes' | 'layout'>): readonly Left[] {
    const known = this.#known.get(truth) ?? new Map<string, readonly Left[]>();
    this.#known.set(truth, known);
    const key = `${layout} ${episodes}`;
    const results = known.get(key) ?? playReference(truth, { episodes, layout });
    known.set(key, results);
    return results;
  }
}

function playReference(truth: Play, setting: Pick<Setting, 'episodes' | 'layout'>): readonly Left[] {
  const rig = truth({ backend: 'reference', kernel: null, threads: 1, ...setting });
  try {
    return watch(rig);
  } finally {
    rig.close();
  }
}

/** Throws unless a case's outputs equal the reference's, in every episode and after every call. */
export function verify(row: Case, rig: Rig, truths: Truths): void {
  // The second play is compared, because repeated plays are timed.
  rig.begin();
  rig.play();
  const results = watch(rig);
  const expected = truths.of(row);
  if (results.length !== expected.length) {
    throw new Mismatch(`${titleOf(row)}: Expected ${expected.length} results, got ${results.length}.`);
  }
  results.forEach((left, call) => {
    compare(`${titleOf(row)}, call ${call + 1}`, left, expected[call]);
  });
}

/** Throws unless both have the same arrays with the same bits. */
export function compare(title: string, got: Left, expected: Left): void {
  const names = [...expected.keys()];
  if (names.join() !== [...got.keys()].join()) {
    throw new Mismatch(`${title}: Expected arrays ${names}, got ${[...got.keys()]}.`);
  }
  for (const [name, wanted] of expected) {
    const array = got.get(name)!;
    const at = firstDifference(array, wanted);
    if (at < 0) continue;
    throw new Mismatch(`${title}: Expected ${name}[${at}] to be ${wanted[at]}, got ${array[at]}.`);
  }
}

const bytesOf = ({ buffer, byteOffset, byteLength }: Elements): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);

/** Returns the first index at which bits differ, or -1. */
function firstDifference(got: Elements, wanted: Elements): number {
  const [a, b] = [bytesOf(got), bytesOf(wanted)];
  if (a.equals(b)) return -1;
  const byte = a.findIndex((value, i) => value !== b[i]);
  return Math.floor((byte < 0 ? a.length : byte) / got.BYTES_PER_ELEMENT);
}
