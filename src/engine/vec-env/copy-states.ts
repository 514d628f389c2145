/** Validates and commits copies of states, for `assign`, `fork`, runs with `from`, and snapshots. Batches make the copies. */

import { InputError, Place, StateError } from '../../shared/errors.js';
import { checkInteger, checkLength, describe, isList, wrongType } from '../../shared/values.js';
import { MAX_ENVS, NUM_STEPS, STATE, STATE_WORDS } from '../../world/fields.js';
import { identityOf } from '../../world/world.js';
import { checkCompatible, decodeSnapshot, encodeSnapshot } from '../snapshot/codec.js';
import type { Snapshot } from '../snapshot/format.js';
import { checkStates } from '../snapshot/legal-states.js';
import { isUnaliased, type OverwrittenBuffers } from '../validate/copy-arguments.js';
import { isWithin, outsideSpan } from '../validate/seeds.js';
import type { Core } from './core.js';

/** The states from which a run begins. */
export interface RunOrigin {
  readonly source: Core;
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
    throw wrongType('indices', 'an array', indices, 'Pass an index of the source for each environment.');
  }
  const count = indices.length;
  if (length !== null) checkLength('indices', count, length, 'numEnvs');
  if (count === 0) {
    throw new InputError('wrong_length', {
      expected: 'at least one index',
      got: 'none',
      remedy: 'Pass an index of the source for each environment.',
    });
  }
  checkInteger('the number of indices', count, 1, MAX_ENVS);
  const last = source.numEnvs - 1;
  if (overwritten !== null && isStable(indices, overwritten) && allUpTo(indices, last)) return indices;
  return Uint32Array.from({ length: count }, (_, i) => {
    const index = indices[i];
    if (Number.isInteger(index) && index >= 0 && index <= last) return index;
    throw new InputError('out_of_range', {
      expected: `an index of the source, 0 to ${last}, at indices[${i}]`,
      got: describe(index),
      remedy: 'Pass an index in that range.',
      at: new Place('indices', i),
    });
  });
}

const isStable = (indices: unknown, overwritten: OverwrittenBuffers): indices is Uint32Array =>
  indices instanceof Uint32Array && isUnaliased(indices, overwritten);

/** Returns whether all indices are at most `last`. */
function allUpTo(indices: Uint32Array, last: number): boolean {
  for (let i = 0; i < indices.length; i++) if (indices[i] > last) return false;
  return true;
}

/** Returns the origin of a run, which must be another environment. */
export function toOrigin(target: Core, source: Core, indices: ArrayLike<number>): RunOrigin {
  if (source !== target) source.requireReset();
  checkAlike(target, source);
  if (source === target) {
    throw new InputError('not_alike', {
      expected: 'from.source to be another environment',
      got: 'the one that runs',
      remedy: 'Call assign, then run without from.',
    });
  }
  return { source, indices: toIndices(indices, target.numEnvs, source, null) };
}

/** Validates the arguments of `assign`. @returns the indices. @throws as `VecEnv.assign`. */
export function toAssigned(target: Core, source: Core, indices: ArrayLike<number>): Uint32Array {
  source.requireReset();
  checkAlike(target, source);
  const origins = toIndices(indices, target.numEnvs, source, target.overwritten);
  checkCopies(target, source, origins);
  return origins;
}

/** Checks that two environments have the same backend and world. @throws InputError `not_alike`. */
function checkAlike(target: Core, source: Core): void {
  const { batch, world } = target;
  if (source.batch.backend !== batch.backend)
    refuseSource('backend', batch.backend, source.batch.backend, 'Use snapshot() and restore(bytes).');
  if (source.world.digest !== world.digest)
    refuseSource('world', identityOf(world), identityOf(source.world), 'Create both with one world.');
}

function refuseSource(what: string, expected: string, got: string, remedy: string): never {
  throw new InputError('not_alike', {
    expected: `a source with ${what} ${expected} (this environment's)`,
    got,
    remedy,
  });
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

function replaceHistory(
  { stepOutputs, world, replayHistory }: Core,
  words: Uint32Array,
  imagination: boolean,
): void {
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
