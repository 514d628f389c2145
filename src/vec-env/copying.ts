/** States that leave an environment or enter it: copies of slots, and snapshots. */
import { InputError, StateError } from '../errors.js';
import type { HistoryStep } from '../observe/record.js';
import { relive } from '../observe/relive.js';
import { decodeSnapshot } from '../snapshot/decode.js';
import { encodeSnapshot } from '../snapshot/encode.js';
import { checkFit } from '../snapshot/fit.js';
import { checkStates } from '../snapshot/legal.js';
import { isPlainU32, isSettled, type Written } from '../validate/memory.js';
import { checkInteger, checkLength, describe, isList, lengthOf, readOptions } from '../validate/values.js';
import { MAX_ENVS, NUM_COMPONENTS, NUM_STEPS, PROFILE_SIZE, STATE, STATE_WORDS } from '../world/fields.js';
import { Core } from './core.js';
import { FORK_OPTIONS, type ForkOptions } from './options.js';

/** Where a run's slots come from. */
export interface RunOrigin {
  readonly source: Core;
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

/** A core that has no episodes yet, of `indices.length` slots, with what slots of `source` have. @throws as `createVecEnv`. */
export function openFork(source: Core, indices: Uint32Array, changes: ForkOptions): Core {
  const wanted = readOptions('fork options', changes, FORK_OPTIONS);
  const { modes, floats } = source.profiles;
  const { backend, kernel } = source.batch;
  const options = {
    ...source.options,
    ...Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== undefined)),
    numEnvs: indices.length,
    backend,
    kernel: kernel === backend ? undefined : kernel,
  };
  return new Core(options, {
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
export function toOrigin(target: Core, source: Core, indices: ArrayLike<number>): RunOrigin {
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

/** Copies slot indices[i] of `source` to slot i: states, what they show, and all that is noted about them. */
export function gather(target: Core, source: Core, indices: Uint32Array): void {
  checkPasts(target, source, indices);
  target.batch.gather(source.batch, indices);
  noteCopies(target, source, indices);
  target.phase = 'open';
}

/** @throws StateError `foreign_past` if the target shows histories that nobody knows. */
function checkPasts(target: Core, source: Core, indices: Uint32Array): void {
  if (target.shown.history !== null && source.shown.history === null) requireOwnPast(source, indices);
}

/** Notes that slot i has become a copy of slot indices[i] of `source`, which has not changed since. */
export function noteCopies(target: Core, source: Core, indices: Uint32Array): void {
  const { history } = target.shown;
  const known = source.shown.history;
  if (history !== null && known !== null) history.gather(known, indices);
  else if (history !== null) replaceHistory(target, source.batch.save(indices), source.imagination);
  const otherLuck = Number(source.imagination !== target.imagination);
  const { seeds, foreign } = source === target ? copyOf(source) : source;
  for (let i = 0; i < indices.length; i++) {
    target.seeds[i] = seeds[indices[i]];
    target.foreign[i] = foreign[indices[i]] | otherLuck;
  }
  target.autoreset.gather(source.autoreset, indices);
}

const copyOf = ({ seeds, foreign }: Core) => ({ seeds: seeds.slice(), foreign: foreign.slice() });

function replaceHistory({ shown, world }: Core, words: Uint32Array, imagination: boolean): void {
  for (let i = 0; i * STATE_WORDS < words.length; i++) {
    const state = words.subarray(i * STATE_WORDS, (i + 1) * STATE_WORDS);
    shown.history?.replace(i, relive(world, imagination, state));
  }
}

/** @throws StateError `foreign_past`. */
function requireOwnPast({ foreign }: Core, slots: ArrayLike<number>): void {
  for (let i = 0; i < slots.length; i++) {
    if (foreign[slots[i]] === 0) continue;
    throw new StateError(
      'foreign_past',
      `Expected slots that began here, got slot ${slots[i]}, which was copied from where other luck rules ` +
        '(imagination): its past cannot be lived again here. Ask the environment that it was copied from.',
    );
  }
}

/** The last `last` steps of a slot's episode. */
export function historyOf(core: Core, slot: number, last: number): HistoryStep[] {
  requireOwnPast(core, [slot]);
  return relive(core.world, core.imagination, core.batch.save(Uint32Array.of(slot)), last);
}

export function takeSnapshot(core: Core): Uint8Array {
  requireOwnPast(core, Array.from(core.foreign.keys()));
  const { numEnvs, imagination, span, autoreset, world } = core;
  return encodeSnapshot({
    worldDigest: world.digest,
    numEnvs,
    autoreset: autoreset.mode,
    imagination,
    steps: autoreset.steps,
    episodes: autoreset.episodes,
    seedRange: [span.low, span.size],
    words: core.batch.save(),
    episodeNumbers: autoreset.episodeNumbers,
  });
}

/** @throws InputError `bad_snapshot`. Nothing has changed then. */
export function restoreSnapshot(core: Core, bytes: Uint8Array): void {
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
  core.batch.load(snapshot.words);
  core.batch.read();
  if (core.shown.history !== null) replaceHistory(core, snapshot.words, imagination);
  for (let i = 0; i < numEnvs; i++) {
    core.seeds[i] = snapshot.words[i * STATE_WORDS + STATE.seed];
    autoreset.place(i, NUM_STEPS - snapshot.words[i * STATE_WORDS + STATE.step]);
  }
  core.foreign.fill(0);
  autoreset.episodeNumbers.set(snapshot.episodeNumbers);
  autoreset.steps = snapshot.steps;
  autoreset.episodes = snapshot.episodes;
  core.phase = 'open';
}
