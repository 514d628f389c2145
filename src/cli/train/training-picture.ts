/** The picture of a training's curves. */

import type { Drawing } from '../../figures/figure.js';
import { type Curve, drawTrainingCurves } from '../../figures/training-curves.js';
import type { Trained } from '../../training/student/train.js';

/** Draws the curves of cloning by epochs and of the refinement (docs/students.md) by episodes. @param name the student's name. */
export function trainingPicture(
  name: string,
  { figures: epochs, refinement }: Pick<Trained, 'figures' | 'refinement'>,
): Drawing {
  const cloning = (title: string, key: 'actionLoss' | 'agreement' | 'beliefMae'): Curve => ({
    name: title,
    unit: 'epochs',
    points: epochs.map((figures, k) => ({ x: k + 1, y: figures[key] })),
  });
  const refining = (title: string, key: 'finalScore' | 'beliefMae'): Curve => ({
    name: title,
    unit: 'episodes of the refinement',
    points: refinement.map((figures) => ({ x: figures.episodes, y: figures[key] })),
  });
  const curves = [
    cloning('Loss of the actions', 'actionLoss'),
    cloning('Agreement with the teacher', 'agreement'),
    cloning('Belief MAE, held-out episodes', 'beliefMae'),
    refining('Final score in the refinement', 'finalScore'),
    refining('Belief MAE in the refinement', 'beliefMae'),
  ];
  return drawTrainingCurves({
    title: `Training of ${name}`,
    curves: curves.filter(({ points }) => points.length > 0),
  });
}
