/** Compares the outputs of a case with those of the reference, bit by bit, before the case is timed. */
import type { Case } from './cases.js';
import type { Elements, OpenRig, OutputCopies, Rig, Setting } from './episodes.js';

/** The error of a failed verification: outputs that differ, or an unexpected answer of the server. */
export class Mismatch extends Error {}

/** Returns the title of a case. */
export const titleOf = ({ backend, kernel, name, threads, episodes, layout }: Setting & { name: string }) =>
  `${kernel ?? backend}, ${name}, ${layout}, ${episodes} episodes, threads ${threads}`;

/** Returns copies of the outputs after each call of a play. */
function outputsOf(rig: Rig): OutputCopies[] {
  const results: OutputCopies[] = [];
  rig.begin();
  rig.play(() => results.push(rig.outputs()));
  return results;
}

/** The expected outputs after each call of a play, computed by the reference and cached for all kernels. */
export class ReferenceOutputs {
  readonly #cache = new Map<OpenRig, Map<string, readonly OutputCopies[]>>();

  of({ openExpected, episodes, layout }: Case): readonly OutputCopies[] {
    const cached = this.#cache.get(openExpected) ?? new Map<string, readonly OutputCopies[]>();
    this.#cache.set(openExpected, cached);
    const key = `${layout} ${episodes}`;
    if (!cached.has(key)) {
      const rig = openExpected({ backend: 'reference', kernel: null, threads: 1, episodes, layout });
      cached.set(key, outputsOf(rig));
      rig.close();
    }
    return cached.get(key)!;
  }
}

/** Throws unless a case's outputs equal the reference's, in every episode and after every call. */
export function verify(row: Case, rig: Rig, references: ReferenceOutputs): void {
  // The second play is compared, because repeated plays are timed.
  rig.begin();
  rig.play();
  const results = outputsOf(rig);
  const expected = references.of(row);
  if (results.length !== expected.length) {
    throw new Mismatch(`${titleOf(row)}: Expected ${expected.length} results, got ${results.length}.`);
  }
  results.forEach((outputs, call) => {
    compare(`${titleOf(row)}, call ${call + 1}`, outputs, expected[call]);
  });
}

/** Throws unless both have the same arrays with the same bits. */
export function compare(title: string, got: OutputCopies, expected: OutputCopies): void {
  const names = [...expected.keys()];
  if (names.join() !== [...got.keys()].join()) {
    throw new Mismatch(`${title}: Expected arrays ${names}, got ${[...got.keys()]}.`);
  }
  for (const [name, wanted] of expected) {
    const array = got.get(name)!;
    const index = firstDifference(array, wanted);
    if (index < 0) continue;
    throw new Mismatch(`${title}: Expected ${name}[${index}] to be ${wanted[index]}, got ${array[index]}.`);
  }
}

/** Returns the first `count` environments of row-major arrays of `episodes` environments. */
export function firstEnvs(outputs: OutputCopies, episodes: number, count: number): OutputCopies {
  const first = (array: Elements) => array.subarray(0, (array.length / episodes) * count);
  return new Map(Array.from(outputs, ([name, array]) => [name, first(array)]));
}

/** Returns the first index at which bits differ, or -1. */
function firstDifference(got: Elements, wanted: Elements): number {
  const [a, b] = [got, wanted].map((each) => Buffer.from(each.buffer, each.byteOffset, each.byteLength));
  if (a.equals(b)) return -1;
  const byte = a.findIndex((value, i) => value !== b[i]);
  return Math.floor((byte < 0 ? a.length : byte) / got.BYTES_PER_ELEMENT);
}
