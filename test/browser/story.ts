/** Stories of calls at the seam, and what any backend shows when it lives them: in Node, and in a page. */
import { sha256 } from '@noble/hashes/sha2';
import { bytesToHex } from '@noble/hashes/utils';
import type { AsyncBackend, AsyncBatch, DeviceOptions } from '../../src/backends/async-backend.js';
import type {
  OutputLayout,
  Outputs,
  ResetRequest,
  RunRequest,
  StepRequest,
  Trajectory,
} from '../../src/backends/backend.js';
import { allocateOutputs, allocateTrajectory } from '../../src/backends/outputs.js';
import { createWorld } from '../../src/world/world.js';

/** A run whose arrays of a trajectory whoever plays it allocates, so that the story is plain data. */
export type RunOfStory = Omit<RunRequest, 'trajectory' | 'from'> & { readonly records: boolean };

export type Move =
  | { readonly kind: 'reset'; readonly request: ResetRequest }
  | { readonly kind: 'step'; readonly request: StepRequest }
  | { readonly kind: 'run'; readonly request: RunOfStory }
  /** Slots are copied within the batch. */
  | { readonly kind: 'gather'; readonly indices: Uint32Array }
  /** The states of some slots, in words. */
  | { readonly kind: 'save'; readonly indices: Uint32Array }
  /** Goes on in a new batch, from words that any backend saved. */
  | { readonly kind: 'load'; readonly words: Uint32Array }
  /** Goes on in a new batch of other size, whose slots are copies that run in the same pass. */
  | { readonly kind: 'fork'; readonly indices: Uint32Array; readonly request: RunOfStory };

/** What a story is lived in. */
export interface Scene {
  readonly name: string;
  readonly numEnvs: number;
  readonly imagination: boolean;
  readonly layout: OutputLayout;
}

export interface Story {
  readonly scene: Scene;
  readonly moves: readonly Move[];
}

/** All that can be seen after a move, copied: outputs as they lie in memory, states, hashes, targets, trajectory. */
export type Seen = Readonly<Record<string, Column>>;
export type Column = Float32Array | Int32Array | Uint32Array | Uint8Array | Int8Array | BigUint64Array;

/** SHA-256, hexadecimal, of each column. */
export type Digests = Readonly<Record<string, string>>;

const WORLD = createWorld();

/** A batch in a scene, which makes the moves of a story one after the other. */
export class Player {
  readonly #backend: AsyncBackend;
  readonly #scene: Scene;
  readonly #device: DeviceOptions;
  #batch!: AsyncBatch;
  #outputs!: Outputs;

  private constructor(backend: AsyncBackend, scene: Scene, allowInexact: boolean) {
    this.#backend = backend;
    this.#scene = scene;
    this.#device = { allowInexact, maxDispatchMs: 100, workgroupSize: 64 };
  }

  static async open(backend: AsyncBackend, scene: Scene, allowInexact = false): Promise<Player> {
    const player = new Player(backend, scene, allowInexact);
    await player.#open(scene.numEnvs);
    return player;
  }

  get batch(): AsyncBatch {
    return this.#batch;
  }

  /** Of the batch that it plays in now: valid until a move that goes on in another. */
  get outputs(): Outputs {
    return this.#outputs;
  }

  async #open(numEnvs: number): Promise<void> {
    const { imagination, layout } = this.#scene;
    this.#outputs = allocateOutputs(numEnvs, layout);
    this.#batch = await this.#backend.open({
      ...{ numEnvs, imagination, world: WORLD, threads: 1, kernel: null },
      ...{ outputs: this.#outputs, device: this.#device },
    });
  }

  async make(move: Move): Promise<Seen> {
    return { ...(await this.#do(move)), ...(await this.#see()) };
  }

  /** @returns what is seen of this move alone. */
  async #do(move: Move): Promise<Seen> {
    if (move.kind === 'reset') this.#batch.reset(move.request);
    else if (move.kind === 'step') allowed(this.#batch.submit(move.request));
    else if (move.kind === 'gather') this.#batch.gather(this.#batch, move.indices);
    else if (move.kind === 'save') return { saved: await this.#batch.save(move.indices) };
    else if (move.kind === 'run') return this.#run(move.request);
    else return this.#goOn(move);
    return {};
  }

  async #run(request: RunOfStory, from?: { source: AsyncBatch; indices: Uint32Array }): Promise<Seen> {
    const { records, ...rest } = request;
    const trajectory = records ? allocateTrajectory(this.#outputs.rewards.length) : null;
    // The seam's source is a batch of the same backend, whichever it is.
    const origin = from && { source: from.source as never, indices: from.indices };
    allowed(await this.#batch.run({ ...rest, trajectory, ...(origin && { from: origin }) }));
    return trajectory === null ? {} : columnsOf(trajectory);
  }

  /** In a new batch. */
  async #goOn(move: Extract<Move, { kind: 'load' | 'fork' }>): Promise<Seen> {
    const source = this.#batch;
    await this.#open(move.kind === 'fork' ? move.indices.length : this.#outputs.rewards.length);
    try {
      if (move.kind === 'fork') return await this.#run(move.request, { source, indices: move.indices });
      this.#batch.load(move.words);
      return {};
    } finally {
      source.close();
    }
  }

  async #see(): Promise<Seen> {
    await this.#batch.read();
    const shown = Object.entries(this.#outputs).filter(([, array]) => ArrayBuffer.isView(array));
    return {
      ...Object.fromEntries(shown.map(([name, array]) => [name, array.slice()])),
      state: await this.#batch.save(),
      hash: await this.#batch.stateHash(),
      targets: await this.#batch.targets(),
    };
  }

  close(): void {
    this.#batch.close();
  }
}

/** What is seen after each move. */
export async function play(backend: AsyncBackend, story: Story, allowInexact = false): Promise<Seen[]> {
  const player = await Player.open(backend, story.scene, allowInexact);
  const seen: Seen[] = [];
  for (const move of story.moves) seen.push(await player.make(move));
  player.close();
  return seen;
}

export const digestsOf = (seen: Seen): Digests =>
  Object.fromEntries(Object.entries(seen).map(([name, column]) => [name, digestOf(column)]));

/** SHA-256, hexadecimal, of a column's bytes. */
export const digestOf = ({ buffer, byteOffset, byteLength }: Column): string =>
  bytesToHex(sha256(new Uint8Array(buffer, byteOffset, byteLength)));

function columnsOf(trajectory: Trajectory): Seen {
  return Object.fromEntries(
    Object.entries(trajectory).map(([name, column]) => [`trajectory.${name}`, column]),
  );
}

function allowed(refusal: object | null): void {
  if (refusal !== null) throw new Error(`Expected a move that is allowed, got ${JSON.stringify(refusal)}.`);
}
