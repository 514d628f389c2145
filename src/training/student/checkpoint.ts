/** The state of a training as one file. A training that continues from the file gives the same bits as one without a break. */
import type { Layer } from '../../agents/student/network.js';
import {
  BadTensors,
  decodeTensors,
  encodeTensors,
  type Tensor,
  type Tensors,
} from '../../agents/student/safetensors.js';
import { readLayers, tensorsOf } from '../../agents/student/student-file.js';
import { InputError } from '../../shared/errors.js';
import { NUM_STEPS } from '../../world/fields.js';
import type { EpochFigures, Labelled } from './episodes.js';

/** A network, and the state of its optimiser, Adam. */
export interface ModelState {
  readonly layers: readonly Layer[];
  /** Adam's running means of the gradients, and of their squares: an entry for each number of `layers`. */
  readonly mean: readonly Layer[];
  readonly square: readonly Layer[];
  /** The number of updates so far. */
  readonly updates: number;
}

/** Figures of an iteration of the refinement (see docs/students.md): a batch of episodes, and the updates that follow. */
export interface RefinementFigures {
  /** The episodes played so far. */
  readonly episodes: number;
  /** Means over the episodes of the iteration, before its updates. */
  readonly finalScore: number;
  readonly beliefMae: number;
  /**
   * What the compared actions gain over the student's own (see `Comparisons` in refine/comparisons.ts), weighted by the
   * student's probabilities: the mean over the updates of the iteration.
   */
  readonly gain: number;
}

/** The state of a refinement between two iterations. */
export interface RefinementState {
  readonly actor: ModelState;
  readonly figures: readonly RefinementFigures[];
}

/** The state of a training between two parts of its work: chunks of labelled episodes, epochs, iterations of the refinement. */
export interface Checkpoint {
  /** An entry for each finished epoch of cloning, over all rounds. */
  readonly figures: readonly EpochFigures[];
  /** The episodes that are labelled so far. */
  readonly episodes: Labelled;
  /** The clone, as far as it is trained. The refinement does not change it. */
  readonly learner: ModelState;
  /** Null before the refinement. */
  readonly refinement: RefinementState | null;
}

/** The sets of arrays of a model. Each set has the shapes of the network's layers. */
const SETS = ['layers', 'mean', 'square'] as const;

/**
 * Returns the bytes of a checkpoint.
 * @param settings JSON that determines the training. Only the same training can continue from the file.
 */
export function encodeCheckpoint(checkpoint: Checkpoint, settings: string): Uint8Array {
  const { figures, episodes, learner, refinement } = checkpoint;
  const count = episodes.seeds.length;
  const tensors: Record<string, Tensor> = {
    seeds: { shape: [count], data: episodes.seeds },
    actions: { shape: [count, NUM_STEPS], data: episodes.actions },
    labels: { shape: [count, NUM_STEPS], data: episodes.labels },
  };
  const models = { learner, ...(refinement && { actor: refinement.actor }) };
  const sets = Object.entries(models).flatMap(([name, model]) =>
    SETS.map((set) => tensorsOf(model[set], `${name}.${set}`)),
  );
  const metadata = {
    settings,
    figures: JSON.stringify(figures),
    refinement: JSON.stringify(refinement?.figures ?? null),
    ...Object.fromEntries(
      Object.entries(models).map(([name, { updates }]) => [`${name}.updates`, String(updates)]),
    ),
  };
  // The arrays of bytes come last, so that all others begin at a multiple of four bytes.
  return encodeTensors({ tensors: Object.assign({}, ...sets, tensors), metadata });
}

/** Reads a checkpoint. @throws InputError `bad_student` for damaged bytes, and for a training with other settings. */
export function decodeCheckpoint(bytes: Uint8Array, settings: string): Checkpoint {
  try {
    const file = decodeTensors(bytes);
    const { tensors, metadata } = file;
    if (metadata.settings !== settings)
      refuse(
        `a training with the settings ${settings}`,
        metadata.settings,
        'Pass the same options, or leave out --resume.',
      );
    const { seeds, actions, labels } = tensors;
    const refinement = JSON.parse(metadata.refinement);
    return {
      figures: JSON.parse(metadata.figures),
      episodes: {
        seeds: seeds.data as Uint32Array,
        actions: actions.data as Uint8Array,
        labels: labels.data as Uint8Array,
      },
      learner: readModel(file, 'learner'),
      refinement: refinement && {
        actor: readModel(file, 'actor'),
        figures: refinement,
      },
    };
  } catch (error) {
    if (error instanceof BadTensors || error instanceof SyntaxError || error instanceof TypeError)
      return refuse("a training's checkpoint", error.message, 'Leave out --resume to begin a new training.');
    throw error;
  }
}

function readModel({ tensors, metadata }: Tensors, name: string): ModelState {
  const [layers, mean, square] = SETS.map((set) => readLayers(tensors, `${name}.${set}`));
  return { layers, mean, square, updates: Number(metadata[`${name}.updates`]) };
}

function refuse(expected: string, got: string, remedy: string): never {
  throw new InputError('bad_student', { expected, got: got.replace(/\.$/, ''), remedy });
}
