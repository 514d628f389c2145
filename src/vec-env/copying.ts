/** States that leave an environment or enter it: copies of slots, and snapshots. */
import { hasKernels } from '../backends/choice.js';
import { InputError, StateError } from '../errors.js';
import { relive } from '../observe/relive.js';
import { decodeSnapshot } from '../snapshot/decode.js';
import { encodeSnapshot } from '../snapshot/encode.js';
import { checkFit } from '../snapshot/fit.js';
import type { Snapshot } from '../snapshot/format.js';
import { checkStates } from '../snapshot/legal.js';
import { isPlainU32, isSettled, type Written } from '../validate/memory.js';
import { checkInteger, checkLength, describe, isList, lengthOf, readOptions } from '../validate/values.js';
import { MAX_ENVS, NUM_COMPONENTS, NUM_STEPS, PROFILE_SIZE, STATE, STATE_WORDS } from '../world/fields.js';
import type { AnyBatch, Core } from './core.js';
import { FORK_OPTIONS, type ForkOptions } from './options.js';
import { type Settings, toSettings } from './settings.js';

/** Where a run's slots come from. */
export interface RunOrigin<Kind extends AnyBatch = AnyBatch> {
  readonly source: Core<Kind>;
  readonly indices: Uint32Array;
}

/**
 * u32: slots of a source.
 * @param length how many are expected; null for any number but none.
 * @param written what the call overwrites: a Uint32Array that lies elsewhere passes as it is; null to copy any.
 */
export function toIndices(
  indices: ArrayLike<number>,
  length: number | null,
  source: Core,
  written: Written | null,
): Uint32Array {
  if (!isList(indices)) {
    throw new InputError(
      'wrong_type',
      `Expected indices to be an array of slots, got ${describe(indices)}. Pass a slot of the source for each.`,
    );
  }
  const count = lengthOf(indices);
  if (length !== null) checkLength('indices', count, length, 'numEnvs');
  if (count === 0) {
    throw new InputError('wrong_length', 'Expected at least one index, got none. Pass a slot for each.');
  }
  checkInteger('the number of indices', count, 1, MAX_ENVS);
  const last = source.numEnvs - 1;
  if (written !== null && isStable(indices, written) && allUpTo(indices, last)) return indices;
  return Uint32Array.from({ length: count }, (_, i) => {
    const index = indices[i];
    if (Number.isInteger(index) && index >= 0 && index <= last) return index;
    throw new InputError(
      'out_of_range',
      `Expected a slot of the source, 0 to ${last}, at indices[${i}], got ${describe(index)}. Pass one.`,
    );
  });
}

const isStable = (indices: unknown, written: Written): indices is Uint32Array =>
  isPlainU32(indices) && isSettled(indices, written);

/** Without the function that `every` would want: nothing is allocated for an assignment. */
function allUpTo(indices: Uint32Array, last: number): boolean {
  for (let i = 0; i < indices.length; i++) if (indices[i] > last) return false;
  return true;
}

/** What an environment of `indices.length` slots is made of that has what slots of `source` have. @throws as `createVecEnv`. */
export function toFork(source: Core, indices: Uint32Array, changes: ForkOptions): Settings {
  const wanted = readOptions('fork options', changes, FORK_OPTIONS);
  const { modes, floats } = source.profiles;
  const { backend, kernel } = source.batch;
  const options = {
    ...source.options,
    ...Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== undefined)),
    numEnvs: indices.length,
    backend,
    kernel: hasKernels(backend) ? kernel : undefined,
  };
  return toSettings(options, {
    profiles: { modes: rowsAt(modes, 1, indices), floats: floats && rowsAt(floats, PROFILE_SIZE, indices) },
    graders: rowsAt(source.graders, NUM_COMPONENTS, indices),
  });
}

function rowsAt<T extends Float32Array | Uint8Array>(rows: T, width: number, indices: Uint32Array): T {
  const copy = new (rows.constructor as new (length: number) => T)(indices.length * width);
  indices.forEach((index, i) => {
    copy.set(rows.subarray(index * width, (index + 1) * width), i * width);
  });
  return copy;
}

/** A run's origin: slots of another environment. @throws as `VecEnv.assign`, and InputError `not_alike` for itself. */
export function toOrigin<Kind extends AnyBatch>(
  target: Core<Kind>,
  source: Core<Kind>,
  indices: ArrayLike<number>,
): RunOrigin<Kind> {
  if (source !== target) source.requireReset();
  checkAlike(target, source);
  if (source === target) {
    throw new InputError(
      'not_alike',
      'Expected from.source to be another environment, got the one that runs. Call assign, then run without from.',
    );
  }
  const slots = toIndices(indices, target.numEnvs, source, null);
  checkPasts(target, source, slots);
  return { source, indices: slots };
}

/** @throws InputError `not_alike` for a source of another backend or world. */
export function checkAlike(target: Core, source: Core): void {
  const remedy = 'Use snapshot() and restore(bytes).';
  requireSame('backend', target.batch.backend, source.batch.backend, remedy);
  requireSame('world', target.world.digest, source.world.digest, 'Create both with one world.');
}

function requireSame(what: string, wanted: string, got: string, remedy: string): void {
  if (wanted === got) return;
  throw new InputError(
    'not_alike',
    `Expected a source of ${what} ${wanted}, as this environment's, got ${got}. ${remedy}`,
  );
}

/** @throws StateError `foreign_past` if the target shows histories that nobody knows. */
export function checkPasts(target: Core, source: Core, indices: Uint32Array): void {
  if (lacksPasts(target, source)) requireOwnPast(source, indices);
}

/** Whether the target shows histories, and the source has none to copy: they are lived again then. */
export const lacksPasts = (target: Core, source: Core): boolean =>
  target.shown.history !== null && source.shown.history === null;

/**
 * Notes that slot i has become a copy of slot indices[i] of `source`, which has not changed since.
 * @param words u32 [indices.length, STATE_WORDS], of these slots of a source that `lacksPasts`; else null.
 */
export function noteCopies(
  target: Core,
  source: Core,
  indices: Uint32Array,
  words: Uint32Array | null,
): void {
  const { history } = target.shown;
  if (words !== null) replaceHistory(target, words, source.imagination);
  else if (source.shown.history !== null) history?.gather(source.shown.history, indices);
  const otherLuck = Number(source.imagination !== target.imagination);
  const { seeds, foreign } = source === target ? copyOf(source) : source;
  for (let i = 0; i < indices.length; i++) {
    target.seeds[i] = seeds[indices[i]];
    target.foreign[i] = foreign[indices[i]] | otherLuck;
  }
  target.autoreset.gather(source.autoreset, indices);
}

/** Notes that all slots have become copies, and are shown. */
export function hasGathered(
  target: Core,
  source: Core,
  indices: Uint32Array,
  words: Uint32Array | null,
): void {
  noteCopies(target, source, indices, words);
  // As after a reset: this call ended no episode.
  target.outputs.finalMask.fill(0);
  target.phase = 'open';
}

const copyOf = ({ seeds, foreign }: Core) => ({ seeds: seeds.slice(), foreign: foreign.slice() });

function replaceHistory({ shown, world }: Core, words: Uint32Array, imagination: boolean): void {
  for (let i = 0; i * STATE_WORDS < words.length; i++) {
    const state = words.subarray(i * STATE_WORDS, (i + 1) * STATE_WORDS);
    shown.history?.replace(i, relive(world, imagination, state));
  }
}

/** @throws StateError `foreign_past`. */
export function requireOwnPast({ foreign }: Core, slots: ArrayLike<number>): void {
  for (let i = 0; i < slots.length; i++) {
    if (foreign[slots[i]] === 0) continue;
    throw new StateError(
      'foreign_past',
      `Expected slots that began here, got slot ${slots[i]}, which was copied from where other luck rules ` +
        '(imagination): its past cannot be lived again here. Ask the environment that it was copied from.',
    );
  }
}

/** @throws StateError `foreign_past` for any slot. */
export const requireOwnPasts = (core: Core): void => requireOwnPast(core, Array.from(core.foreign.keys()));

/** @param words u32 [numEnvs, STATE_WORDS], as the batch saves them. */
export function toBytes(core: Core, words: Uint32Array): Uint8Array {
  const { numEnvs, imagination, span, autoreset, world } = core;
  return encodeSnapshot({
    worldDigest: world.digest,
    numEnvs,
    autoreset: autoreset.mode,
    imagination,
    steps: autoreset.steps,
    episodes: autoreset.episodes,
    seedRange: [span.low, span.size],
    words,
    episodeNumbers: autoreset.episodeNumbers,
  });
}

/** A snapshot that the environment can go on from. @throws InputError `bad_snapshot`. */
export function toSnapshot(core: Core, bytes: Uint8Array): Snapshot {
  const snapshot = decodeSnapshot(bytes);
  const { numEnvs, imagination, span, autoreset, world } = core;
  checkFit(snapshot, {
    world,
    numEnvs,
    autoreset: autoreset.mode,
    imagination,
    seedRange: [span.low, span.size],
  });
  checkStates(snapshot.words, numEnvs, world);
  return snapshot;
}

/** Notes that the batch has loaded a snapshot's words. */
export function hasRestored(core: Core, { words, episodeNumbers, steps, episodes }: Snapshot): void {
  const { autoreset } = core;
  if (core.shown.history !== null) replaceHistory(core, words, core.imagination);
  for (let i = 0; i < core.numEnvs; i++) {
    core.seeds[i] = words[i * STATE_WORDS + STATE.seed];
    autoreset.place(i, NUM_STEPS - words[i * STATE_WORDS + STATE.step]);
  }
  core.foreign.fill(0);
  autoreset.episodeNumbers.set(episodeNumbers);
  autoreset.steps = steps;
  autoreset.episodes = episodes;
  core.phase = 'open';
}
