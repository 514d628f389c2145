/** Validates and commits copies of states, for `assign`, `fork`, runs with `from`, and snapshots. Batches make the copies. */

import { InputError, Place, StateError } from '../../shared/errors.js';
import { checkInteger, checkLength, describe, isList, readOptions } from '../../shared/values.js';
import { MAX_ENVS, NUM_COMPONENTS, NUM_STEPS, PROFILE_SIZE, STATE, STATE_WORDS } from '../../world/fields.js';
import { identityOf } from '../../world/world.js';
import type { AnyBatch } from '../backends/any-batch.js';
import { hasKernels } from '../backends/choose-backend.js';
import { replayHistory } from '../observe/replay-history.js';
import { checkCompatible } from '../snapshot/compatible.js';
import { decodeSnapshot } from '../snapshot/decode.js';
import { encodeSnapshot } from '../snapshot/encode.js';
import type { Snapshot } from '../snapshot/format.js';
import { checkStates } from '../snapshot/legal-states.js';
import { isUnaliased, type OverwrittenBuffers } from '../validate/aliased-memory.js';
import type { EnvProfiles } from '../validate/profiles.js';
import { isWithin, outsideSpan } from '../validate/seeds.js';
import { type Settings, toSettings } from './check-options.js';
import type { Core } from './core.js';
import { type Imagined, toGivenProfiles, toImagined } from './imagined-profiles.js';
import { FORK_OPTIONS, type ForkOptions, type VecEnvOptions } from './vec-env-options.js';

/** The states from which a run begins. */
export interface RunOrigin<Kind extends AnyBatch = AnyBatch> {
  readonly source: Core<Kind>;
  readonly indices: Uint32Array;
}

/**
 * Validates indices of a source. @returns u32.
 * @param length the expected number of indices; null for 1 to MAX_ENVS.
 * @param overwritten the memory that the call overwrites. A Uint32Array that cannot change during the call is not copied. Null
 *   to copy always.
 */
export function toIndices(
  indices: ArrayLike<number>,
  length: number | null,
  source: Core,
  overwritten: OverwrittenBuffers | null,
): Uint32Array {
  if (!isList(indices)) {
    throw new InputError(
      'wrong_type',
      `Expected indices to be an array, got ${describe(indices)}. Pass an index of the source for each environment.`,
    );
  }
  const count = indices.length;
  if (length !== null) checkLength('indices', count, length, 'numEnvs');
  if (count === 0) {
    throw new InputError(
      'wrong_length',
      'Expected at least one index, got none. Pass an index of the source for each environment.',
    );
  }
  checkInteger('the number of indices', count, 1, MAX_ENVS);
  const last = source.numEnvs - 1;
  if (overwritten !== null && isStable(indices, overwritten) && allUpTo(indices, last)) return indices;
  return Uint32Array.from({ length: count }, (_, i) => {
    const index = indices[i];
    if (Number.isInteger(index) && index >= 0 && index <= last) return index;
    throw new InputError(
      'out_of_range',
      `Expected an index of the source, 0 to ${last}, at indices[${i}], got ${describe(index)}. Pass an index in that range.`,
      { at: new Place('indices', i) },
    );
  });
}

const isStable = (indices: unknown, overwritten: OverwrittenBuffers): indices is Uint32Array =>
  indices instanceof Uint32Array && isUnaliased(indices, overwritten);

/** Returns whether all indices are at most `last`. */
function allUpTo(indices: Uint32Array, last: number): boolean {
  for (let i = 0; i < indices.length; i++) if (indices[i] > last) return false;
  return true;
}

/** A fork to open. */
export interface Fork {
  readonly settings: Settings;
  /** The profiles that replace the hidden profiles; null to keep them. */
  readonly imagined: Imagined | null;
}

/** Returns a fork to open: the source's settings with changes, and imagined profiles. @throws as `VecEnv.fork`. */
export function toFork(source: Core, indices: Uint32Array, changes: ForkOptions): Fork {
  const { imagination, ...changedOptions } = readOptions('fork options', changes, FORK_OPTIONS);
  const imagined = toImagined(source, indices.length, imagination);
  const flag = imagined === null ? (imagination as boolean | undefined) : true;
  return {
    settings: toForkSettings(source, indices, { ...changedOptions, imagination: flag }, imagined),
    imagined,
  };
}

function toForkSettings(
  source: Core,
  indices: Uint32Array,
  changedOptions: Partial<VecEnvOptions>,
  imagined: Imagined | null,
): Settings {
  const { backend, kernel } = source.batch;
  const options = {
    ...source.inheritedOptions,
    // Only `native` has threads.
    threads: hasKernels(backend) ? source.inheritedOptions.threads : undefined,
    ...Object.fromEntries(Object.entries(changedOptions).filter(([, value]) => value !== undefined)),
    numEnvs: indices.length,
    backend,
    kernel: hasKernels(backend) ? kernel : undefined,
  };
  return toSettings(options, {
    profiles: imagined === null ? profilesAt(source, indices) : toGivenProfiles(imagined),
    graders: rowsAt(source.graders, NUM_COMPONENTS, indices),
  });
}

const profilesAt = ({ profiles: { modes, floats } }: Core, indices: Uint32Array): EnvProfiles => ({
  modes: rowsAt(modes, 1, indices),
  floats: floats && rowsAt(floats, PROFILE_SIZE, indices),
});

function rowsAt<T extends Float32Array | Uint8Array>(rows: T, width: number, indices: Uint32Array): T {
  const copy = new (rows.constructor as new (length: number) => T)(indices.length * width);
  indices.forEach((index, i) => {
    copy.set(rows.subarray(index * width, (index + 1) * width), i * width);
  });
  return copy;
}

/** Returns the origin of a run, which must be another environment. */
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
  return { source, indices: toIndices(indices, target.numEnvs, source, null) };
}

/** Checks that two environments have the same backend and world. @throws InputError `not_alike`. */
export function checkAlike(target: Core, source: Core): void {
  const { batch, world } = target;
  if (source.batch.backend !== batch.backend)
    refuseSource('backend', batch.backend, source.batch.backend, 'Use snapshot() and restore(bytes).');
  if (source.world.digest !== world.digest)
    refuseSource('world', identityOf(world), identityOf(source.world), 'Create both with one world.');
}

function refuseSource(what: string, expected: string, got: string, remedy: string): never {
  throw new InputError(
    'not_alike',
    `Expected a source with ${what} ${expected} (this environment's), got ${got}. ${remedy}`,
  );
}

/**
 * Checks that the target can continue episodes of the source. No other call may run between this check and the copy.
 * @throws InputError `bad_seed` for a seed outside the target's seedRange; StateError `foreign_past` if an episode must be
 *   replayed to get its history, and cannot be.
 */
export function checkCopies(target: Core, source: Core, indices: Uint32Array): void {
  checkSeeds(target, source, indices);
  if (needsReplay(target, source)) requireReplayable(source, indices);
}

/** Refuses seeds outside the target's seedRange. Skips the check if the source's range lies within it. */
function checkSeeds({ span }: Core, { span: from, seeds }: Core, indices: Uint32Array): void {
  // Sizes up to 2^32 are heap numbers: where V8 cannot optimise the comparison, it allocates.
  if (from === span) return;
  if (isWithin(from.low, span) && isWithin(from.low + from.size - 1, span)) return;
  for (let i = 0; i < indices.length; i++) {
    const seed = seeds[indices[i]];
    if (isWithin(seed, span)) continue;
    throw outsideSpan(seed, span, `environment ${indices[i]} of the source`);
  }
}

/** Returns whether episodes must be replayed because the target has histories and the source has none. */
export const needsReplay = (target: Core, source: Core): boolean =>
  target.stepOutputs.history !== null && source.stepOutputs.history === null;

/**
 * Commits that environment i is a copy of environment indices[i] of `source`. The source must not have changed since the
 * copy.
 * @param words u32 [indices.length, STATE_WORDS]: the states of these environments if `needsReplay`, else null.
 */
export function commitCopies(
  target: Core,
  source: Core,
  indices: Uint32Array,
  words: Uint32Array | null,
): void {
  const { history } = target.stepOutputs;
  if (words !== null) replaceHistory(target, words, source.imagination);
  else if (source.stepOutputs.history !== null) history?.gather(source.stepOutputs.history, indices);
  const otherStreams = Number(source.imagination !== target.imagination);
  const { seeds, unreplayable } = source === target ? copySeeds(source) : source;
  for (let i = 0; i < indices.length; i++) {
    target.seeds[i] = seeds[indices[i]];
    target.unreplayable[i] = unreplayable[indices[i]] | otherStreams;
  }
  target.autoreset.gather(source.autoreset, indices);
  const isPartial = indices.length < target.numEnvs;
  const copiesUseHiddenState = source.usesHiddenState || !target.imagination;
  target.usesHiddenState = copiesUseHiddenState || (isPartial && target.usesHiddenState);
}

/** Commits a copy into all environments, and clears `finalMask`. */
export function commitGather(
  target: Core,
  source: Core,
  indices: Uint32Array,
  words: Uint32Array | null,
): void {
  commitCopies(target, source, indices, words);
  // This call has ended no episode.
  target.outputs.finalMask.fill(0);
  target.phase = 'playing';
}

const copySeeds = ({ seeds, unreplayable }: Core) => ({
  seeds: seeds.slice(),
  unreplayable: unreplayable.slice(),
});

function replaceHistory({ stepOutputs, world }: Core, words: Uint32Array, imagination: boolean): void {
  for (let i = 0; i * STATE_WORDS < words.length; i++) {
    const state = words.subarray(i * STATE_WORDS, (i + 1) * STATE_WORDS);
    stepOutputs.history?.replace(i, replayHistory(world, imagination, state));
  }
}

/** Requires that the episodes of `envs` can be replayed. @throws StateError `foreign_past`. */
export function requireReplayable({ unreplayable }: Core, envs: ArrayLike<number>): void {
  for (let i = 0; i < envs.length; i++) {
    if (unreplayable[envs[i]] === 0) continue;
    throw new StateError(
      'foreign_past',
      `Expected episodes that can be replayed here, got the episode of environment ${envs[i]}, which was copied from an ` +
        'environment with other streams (imagination). Use the environment that it was copied from.',
    );
  }
}

/** Requires that all episodes can be replayed. @throws StateError `foreign_past`. */
export const requireAllReplayable = (core: Core): void =>
  requireReplayable(core, Array.from(core.unreplayable.keys()));

/** Encodes a snapshot. @param words u32 [numEnvs, STATE_WORDS], from the batch. */
export function toSnapshotBytes(core: Core, words: Uint32Array): Uint8Array {
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

/** Decodes and validates a snapshot for this environment. @throws InputError `bad_snapshot`. */
export function toSnapshot(core: Core, bytes: Uint8Array): Snapshot {
  const snapshot = decodeSnapshot(bytes);
  const { numEnvs, imagination, span, autoreset, world } = core;
  checkCompatible(snapshot, {
    world,
    numEnvs,
    autoreset: autoreset.mode,
    imagination,
    seedRange: [span.low, span.size],
  });
  checkStates(snapshot.words, numEnvs, world, snapshot.seedRange);
  return snapshot;
}

/** Commits a snapshot that the batch has loaded. */
export function commitRestore(core: Core, { words, episodeNumbers, steps, episodes }: Snapshot): void {
  const { autoreset } = core;
  if (core.stepOutputs.history !== null) replaceHistory(core, words, core.imagination);
  for (let i = 0; i < core.numEnvs; i++) {
    core.seeds[i] = words[i * STATE_WORDS + STATE.seed];
    autoreset.setStepsLeft(i, NUM_STEPS - words[i * STATE_WORDS + STATE.step]);
  }
  core.unreplayable.fill(0);
  // A snapshot does not store whether the caller gave the profiles, so they count as hidden.
  core.usesHiddenState = true;
  autoreset.episodeNumbers.set(episodeNumbers);
  autoreset.steps = steps;
  autoreset.episodes = episodes;
  core.phase = 'playing';
}
