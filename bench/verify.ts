/** Nothing is timed before it is right: what a case shows is compared with what the reference shows, bit by bit. */
import type { Case } from './cases.js';
import type { Elements, Left, Play, Rig, Setting } from './rig.js';

/** A case that leaves other bits than it should. */
export class Mismatch extends Error {}

/** Which case it is, for people. */
export const titleOf = ({ backend, kernel, name, threads, episodes, layout }: Setting & { name: string }) =>
  `${kernel ?? backend}, ${name}, ${layout}, ${episodes} episodes, threads ${threads}`;

/** All that a play shows, after each call. */
function watch(rig: Rig): Left[] {
  const seen: Left[] = [];
  rig.begin();
  rig.play(() => seen.push(rig.left()));
  return seen;
}

/** What the reference shows, remembered: kernels share it. */
export class Truths {
  readonly #known = new Map<Play, Map<string, readonly Left[]>>();

  of({ truth, episodes, layout }: Pick<Case, 'truth' | 'episodes' | 'layout'>): readonly Left[] {
    const known = this.#known.get(truth) ?? new Map<string, readonly Left[]>();
    this.#known.set(truth, known);
    const key = `${layout} ${episodes}`;
    const shown = known.get(key) ?? playReference(truth, { episodes, layout });
    known.set(key, shown);
    return shown;
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

/** Throws unless a case shows what the reference does, in every episode and after every call. */
export function verify(row: Case, rig: Rig, truths: Truths): void {
  // The second play is compared, because repeated plays are timed.
  rig.begin();
  rig.play();
  const shown = watch(rig);
  const expected = truths.of(row);
  if (shown.length !== expected.length) {
    throw new Mismatch(`${titleOf(row)}: Expected ${expected.length} results, got ${shown.length}.`);
  }
  shown.forEach((left, call) => {
    compare(`${titleOf(row)}, call ${call + 1}`, left, expected[call]);
  });
}

/** Throws unless two have the same arrays of the same bits. */
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

/** The first index at which bits differ, -1 for none. */
function firstDifference(got: Elements, wanted: Elements): number {
  const [a, b] = [bytesOf(got), bytesOf(wanted)];
  if (a.equals(b)) return -1;
  const byte = a.findIndex((value, i) => value !== b[i]);
  return Math.floor((byte < 0 ? a.length : byte) / got.BYTES_PER_ELEMENT);
}
