/** The state of a training as one file, from which it continues to the same bits. */
import { BadTensors, decodeTensors, encodeTensors, type Tensor } from '../../agents/student/safetensors.js';
import { readLayers, tensorsOf } from '../../agents/student/student-file.js';
import { InputError } from '../../shared/errors.js';
import { NUM_STEPS } from '../../world/fields.js';
import type { Labelled } from './episodes.js';
import type { LearnerState } from './learner.js';

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

export interface Checkpoint {
  /** What was finished: the epochs of each round so far are in `figures`. */
  readonly figures: readonly EpochFigures[];
  readonly episodes: Labelled;
  readonly learner: LearnerState;
}

const SETS = ['layers', 'mean', 'square'] as const;

/** @param settings JSON that determines the training. A training with others cannot continue from the file. */
export function encodeCheckpoint({ figures, episodes, learner }: Checkpoint, settings: string): Uint8Array {
  const count = episodes.seeds.length;
  const tensors: Record<string, Tensor> = {
    seeds: { shape: [count], data: episodes.seeds },
    actions: { shape: [count, NUM_STEPS], data: episodes.actions },
    labels: { shape: [count, NUM_STEPS], data: episodes.labels },
  };
  // The floats come first, so that all arrays are aligned.
  const sets = SETS.map((name) => tensorsOf(learner[name], name));
  const metadata = { settings, figures: JSON.stringify(figures), updates: String(learner.updates) };
  return encodeTensors({ tensors: Object.assign({}, ...sets, tensors), metadata });
}

/** Reads a checkpoint. @throws InputError `bad_student` for damaged bytes, and for a training with other settings. */
export function decodeCheckpoint(bytes: Uint8Array, settings: string): Checkpoint {
  try {
    const { tensors, metadata } = decodeTensors(bytes);
    if (metadata.settings !== settings)
      refuse(
        `a training with the settings ${settings}`,
        metadata.settings,
        'Pass the same options, or leave out --resume.',
      );
    const { seeds, actions, labels } = tensors;
    const [layers, mean, square] = SETS.map((name) => readLayers(tensors, name));
    return {
      figures: JSON.parse(metadata.figures),
      episodes: {
        seeds: seeds.data as Uint32Array,
        actions: actions.data as Uint8Array,
        labels: labels.data as Uint8Array,
      },
      learner: { layers, mean, square, updates: Number(metadata.updates) },
    };
  } catch (error) {
    if (error instanceof BadTensors || error instanceof SyntaxError || error instanceof TypeError)
      return refuse("a training's checkpoint", error.message, 'Leave out --resume to begin anew.');
    throw error;
  }
}

function refuse(expected: string, got: string, remedy: string): never {
  throw new InputError('bad_student', `Expected ${expected}, got ${got.replace(/\.$/, '')}. ${remedy}`);
}
