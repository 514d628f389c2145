/**
 * The WebAssembly backend: the portable kernel of native/ on one thread, in every runtime that has WebAssembly with SIMD. Stages
 * the arguments of each call, and calls native/wasm.cc.
 */
import { BackendError } from '../../../shared/errors.js';
import { NUM_BELIEFS, NUM_STEPS, STATE, STATE_WORDS } from '../../../world/fields.js';
import type {
  Availability,
  Batch,
  BatchOptions,
  Outputs,
  Refusal,
  ReplayRequest,
  ResetRequest,
  RunRequest,
  StepRequest,
  SyncBackend,
  SyncBatch,
} from '../backend.js';
import { convertRangeError } from '../open-batch.js';
import { copyOutputs, type OUTPUT_ARRAYS, TRAJECTORY_ARRAYS, TRAJECTORY_FIELDS } from '../outputs.js';
import { findHistoryRefusal, findSequenceRefusal } from '../refusals.js';
import { type Exports, openInstance, placeOutputs, requireSizes } from './instance.js';
import { replayStaged, Stage, StagedTrajectory, TILE } from './stage.js';

/** The backend in WebAssembly. */
export const wasmBackend: SyncBackend = {
  name: 'wasm',
  availability,
  kernels: () => [],
  open: (options) => new WasmBatch(options),
  placeOutputs,
};

function availability(): Availability {
  try {
    requireSizes();
    return { name: 'wasm', available: true };
  } catch (cause) {
    const { message } = cause as Error;
    const reason =
      cause instanceof BackendError
        ? message
        : `This runtime does not compile WebAssembly with SIMD: ${message}`;
    return { name: 'wasm', available: false, reason };
  }
}

/** Codes of Policy of native/kernel.h. */
const POLICY = { random: 0, heuristic: 1, sequence: 2 } as const;
/** The order of the arrays of Outputs in native/kernel.h. */
const OUTPUT_ORDER = [
  'observations',
  'finalObservations',
  'components',
  'rewards',
  'finalScores',
  'beliefMae',
  'firstHalfMeans',
  'secondHalfMeans',
  'episodeReturns',
  'episodeLengths',
  'terminated',
  'finalMask',
] as const satisfies (keyof typeof OUTPUT_ARRAYS)[];

/** Returns the index of an environment's first word among the words of the tiles. The others follow at a distance of TILE. */
const wordAt = (env: number): number => Math.floor(env / TILE) * TILE * STATE_WORDS + (env % TILE);

/** What a batch needs while it is open. */
interface Open {
  readonly exports: Exports;
  readonly stage: Stage;
  /** The states: see Tile of native/kernel.h. */
  readonly tiles: Uint32Array;
}

class WasmBatch implements SyncBatch {
  readonly backend = 'wasm';
  readonly kernel = 'wasm';
  readonly threads = 1;
  readonly #numEnvs: number;
  readonly #outputs: Outputs;
  #open: Open | null;

  constructor({ numEnvs, world, imagination, outputs }: BatchOptions) {
    const instance = openInstance(outputs.rewards.buffer, numEnvs);
    const addressOf = (name: (typeof OUTPUT_ORDER)[number]) => outputs[name]?.byteOffset ?? 0;
    this.#numEnvs = numEnvs;
    this.#outputs = outputs;
    const { exports, buffer } = instance;
    const stage = new Stage(instance);
    const block = stage.put(world.words);
    const addresses = OUTPUT_ORDER.map(addressOf);
    const first = exports.open(block, Number(imagination), numEnvs, ...addresses, outputs.columnStride);
    const tiles = new Uint32Array(buffer, first, Math.ceil(numEnvs / TILE) * TILE * STATE_WORDS);
    this.#open = { exports, stage, tiles };
  }

  get #exports(): Exports {
    return this.#open!.exports;
  }
  get #stage(): Stage {
    return this.#open!.stage;
  }
  get #tiles(): Uint32Array {
    return this.#open!.tiles;
  }

  reset({ mask, seeds, modes, profiles, graders, start }: ResetRequest): void {
    const stage = this.#stage;
    stage.clear();
    const begin = [mask, seeds, modes, profiles, graders].map((array) => stage.put(array));
    const later = [
      ...[start?.steps, start?.meters, start?.early, start?.late, start?.returns],
      ...[start?.crashes, start?.well, start?.skill, start?.beliefs, start?.given],
    ].map((array) => stage.put(array));
    this.#exports.reset(...begin, ...later);
  }

  submit({ actions, beliefs, given, stepMask, resetMask, resetSeeds }: StepRequest): Refusal | null {
    const stage = this.#stage;
    if (beliefs === null && stepMask === null && resetMask === null)
      return this.#refusalAt(this.#exports.step(stage.putOnly(actions), 0, 0, 0, 0, 0));
    stage.clear();
    const addresses = [actions, beliefs, given, stepMask, resetMask, resetSeeds].map((array) =>
      stage.put(array),
    );
    return this.#refusalAt(this.#exports.step(...addresses));
  }

  /** Reads a Refusal of native/batch.h. */
  #refusalAt(address: number): Refusal | null {
    if (address === 0) return null;
    const [code, index, , value] = this.#stage.view(new Uint32Array(), address, 4);
    return code === 0 ? { code: 'illegal_action', index, value } : { code: 'episode_over', index };
  }

  run(request: RunRequest): Refusal | null {
    const { policy, stops, slice, from } = request;
    const { first, end } = slice ?? { first: 0, end: this.#numEnvs };
    // The first slice checks the sequences of all environments.
    if (policy.kind === 'sequence' && first === 0) {
      const source = from === undefined ? this : (from.source as WasmBatch);
      const refusal = findSequenceRefusal(policy.actions, stops, (i) =>
        source.#stepOf(from?.indices[i] ?? i),
      );
      if (refusal !== null) return refusal;
    }
    if (from !== undefined) {
      const source = from.source as WasmBatch;
      this.#copyStates(source.#tiles, from.indices, first, end);
      // A run writes all outputs of the environments that it steps.
      let steps = first;
      while (steps < end && this.#stepOf(steps) < (stops?.[steps] ?? NUM_STEPS)) steps++;
      if (steps < end) copyOutputs(source.#outputs, this.#outputs, from.indices, first, end);
    }
    const most = this.#mostStaged(request);
    for (let at = first; at < end; at += most) this.#runStaged(request, at, Math.min(at + most, end));
    return null;
  }

  /** Returns how many environments of a run have their arrays staged together: whole tiles. */
  #mostStaged({ trajectory }: RunRequest): number {
    const recorded = TRAJECTORY_FIELDS.filter((name) => trajectory?.[name] !== undefined);
    const bytes = recorded.map((name) => trajectory![name]!.BYTES_PER_ELEMENT * TRAJECTORY_ARRAYS[name][1]);
    // Beside the trajectory: policy seed, stop, and for each step action, belief, and whether it is given.
    const perEnv = 5 + NUM_STEPS * bytes.reduce((sum, size) => sum + size, 2 + 4 * NUM_BELIEFS);
    return Math.floor(this.#stage.capacity / perEnv / TILE) * TILE;
  }

  #runStaged({ policy, beliefs, stops, trajectory }: RunRequest, first: number, end: number): void {
    const stage = this.#stage;
    stage.clear();
    const sequence = beliefs?.kind === 'sequence' ? beliefs : null;
    const seeds = policy.kind === 'random' ? policy.policySeeds : null;
    const inputs = [
      stage.putRows(seeds, 1, first, end),
      stage.putRows(policy.kind === 'sequence' ? policy.actions : null, NUM_STEPS, first, end),
      stage.put(beliefs?.kind === 'constant' ? beliefs.belief : null),
      stage.putRows(sequence?.beliefs, NUM_STEPS * NUM_BELIEFS, first, end),
      stage.putRows(sequence?.given, NUM_STEPS, first, end),
      stage.putRows(stops, 1, first, end),
    ];
    const recorded = trajectory && new StagedTrajectory(stage, trajectory, first, end);
    const { addresses, columnStride } = recorded ?? {
      addresses: TRAJECTORY_FIELDS.map(() => 0),
      columnStride: 0,
    };
    this.#exports.run(POLICY[policy.kind], ...inputs, first, end, ...addresses, columnStride);
    recorded?.read();
  }

  /** Does nothing: outputs are written when they are computed. */
  read(): void {}

  /** Returns the number of steps that an environment's episode has taken. */
  #stepOf(env: number): number {
    return this.#tiles[wordAt(env) + STATE.step * TILE];
  }

  gather(source: Batch, indices: Uint32Array): void {
    try {
      // A batch that gathers from itself allocates copies, all of them before anything changes.
      const from = source === this ? this.#tiles.slice() : (source as WasmBatch).#tiles;
      copyOutputs((source as WasmBatch).#outputs, this.#outputs, indices, 0, indices.length);
      this.#copyStates(from, indices, 0, indices.length);
    } catch (cause) {
      throw convertRangeError(cause, this.#numEnvs);
    }
  }

  /** Copies the state of environment indices[i] of other tiles to environment i, for i from `first` to `end - 1`. */
  #copyStates(from: Uint32Array, indices: Uint32Array, first: number, end: number): void {
    const tiles = this.#tiles;
    for (let i = first, lanes = 1; i < end; i += lanes) {
      // Writes together the lanes of a tile that become copies of one environment.
      const most = Math.min(TILE - (i % TILE), end - i);
      for (lanes = 1; lanes < most && indices[i + lanes] === indices[i]; ) lanes++;
      let [read, write] = [wordAt(indices[i]), wordAt(i)];
      for (let k = 0; k < STATE_WORDS; k++, read += TILE, write += TILE) {
        const word = from[read];
        for (let to = write; to < write + lanes; to++) tiles[to] = word;
      }
    }
    this.#exports.copied();
  }

  save(indices?: Uint32Array): Uint32Array {
    const tiles = this.#tiles;
    const length = indices?.length ?? this.#numEnvs;
    const words = new Uint32Array(length * STATE_WORDS);
    for (let at = 0, i = 0; i < length; i++) {
      for (let from = wordAt(indices?.[i] ?? i), k = 0; k < STATE_WORDS; k++, from += TILE)
        words[at++] = tiles[from];
    }
    return words;
  }

  load(words: Uint32Array, keepsOutputs = false): void {
    const tiles = this.#tiles;
    for (let at = 0, env = 0; at < words.length; env++)
      for (let to = wordAt(env), k = 0; k < STATE_WORDS; k++, to += TILE) tiles[to] = words[at++];
    this.#exports.loaded(Number(keepsOutputs));
  }

  stateHash(): BigUint64Array {
    return this.#computed(new BigUint64Array(this.#numEnvs), 'hash');
  }

  beliefTargets(): Float32Array {
    return this.#computed(new Float32Array(this.#numEnvs * NUM_BELIEFS), 'targets');
  }

  #computed<T extends BigUint64Array | Float32Array>(array: T, name: 'hash' | 'targets'): T {
    this.#stage.clear();
    const address = this.#stage.take(array.byteLength);
    this.#exports[name](address);
    return this.#stage.view(array, address, array.length).slice() as T;
  }

  replay(request: ReplayRequest): Refusal | null {
    const refusal = findHistoryRefusal(request);
    if (refusal === null) replayStaged(this.#exports, this.#stage, request);
    return refusal;
  }

  /** Then only the caller's views of the outputs keep the memory. */
  close(): void {
    this.#open = null;
  }
}
