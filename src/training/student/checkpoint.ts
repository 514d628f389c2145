/** The state of a training as one file, from which it continues to the same bits. */
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
import type { Labelled } from './episodes.js';

/** A network and its optimiser: everything that the next update depends on. */
export interface ModelState {
  readonly layers: readonly Layer[];
  readonly mean: readonly Layer[];
  readonly square: readonly Layer[];
  readonly updates: number;
}

/** Figures of the student after an epoch. */
export interface EpochFigures {
  readonly round: number;
  readonly epoch: number;
  /** Mean losses over the epoch's updates. */
  readonly actionLoss: number;
  readonly beliefLoss: number;
  /** In held-out episodes: the share of steps at which the student chooses the teacher's action. */
  readonly agreement: number;
  /** In held-out episodes: the mean absolute error of the last belief. */
  readonly beliefMae: number;
}

/** Figures of an iteration of the refinement. */
export interface RefinementFigures {
  /** The episodes played so far. */
  readonly episodes: number;
  /** Means over the episodes of the iteration, before its updates. */
  readonly finalScore: number;
  readonly beliefMae: number;
  /** What drawing the compared actions by the student's probabilities gains over its own actions, on average. */
  readonly gain: number;
}

/** The state of a refinement between two iterations. */
export interface RefinementState {
  readonly actor: ModelState;
  readonly figures: readonly RefinementFigures[];
}

export interface Checkpoint {
  /** What was finished: the epochs of each round so far are in `figures`. */
  readonly figures: readonly EpochFigures[];
  readonly episodes: Labelled;
  readonly learner: ModelState;
  /** Null before the refinement. Then `learner` is the clone. */
  readonly refinement: RefinementState | null;
}

const SETS = ['layers', 'mean', 'square'] as const;

/** @param settings JSON that determines the training. A training with others cannot continue from the file. */
export function encodeCheckpoint(checkpoint: Checkpoint, settings: string): Uint8Array {
  const { figures, episodes, learner, refinement } = checkpoint;
  const count = episodes.seeds.length;
  const tensors: Record<string, Tensor> = {
    seeds: { shape: [count], data: episodes.seeds },
    actions: { shape: [count, NUM_STEPS], data: episodes.actions },
    labels: { shape: [count, NUM_STEPS], data: episodes.labels },
  };
  // The floats come first, so that all arrays are aligned.
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
      return refuse("a training's checkpoint", error.message, 'Leave out --resume to begin anew.');
    throw error;
  }
}

function readModel({ tensors, metadata }: Tensors, name: string): ModelState {
  const [layers, mean, square] = SETS.map((set) => readLayers(tensors, `${name}.${set}`));
  return { layers, mean, square, updates: Number(metadata[`${name}.updates`]) };
}

function refuse(expected: string, got: string, remedy: string): never {
  throw new InputError('bad_student', `Expected ${expected}, got ${got.replace(/\.$/, '')}. ${remedy}`);
}
