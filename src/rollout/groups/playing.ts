/** Rollouts under way: which of them play, and how far each has come. */
import { NUM_STEPS, OBSERVATION, OBSERVATION_SIZE } from '../../world/fields.js';
import type { Started } from './start.js';

export class Playing {
  readonly started: Started;
  /** u8 [n]: steps that each has taken, also before it was a rollout. */
  readonly steps: Uint8Array;
  /** u8 [n]: 1 where steps are left. */
  readonly mask: Uint8Array;
  /** Steps that all together take, and have left. */
  readonly total: number;
  left: number;

  constructor(started: Started) {
    const { observations } = started.shown;
    this.started = started;
    this.steps = Uint8Array.from(
      { length: started.env.numEnvs },
      (_, i) => observations[i * OBSERVATION_SIZE + OBSERVATION.step],
    );
    this.mask = this.steps.map((steps) => Number(steps < NUM_STEPS));
    this.total = this.steps.reduce((sum, steps) => sum + NUM_STEPS - steps, 0);
    this.left = this.total;
  }

  /** Notes that all that play have taken a step. */
  advance(): void {
    const { steps, mask } = this;
    for (let i = 0; i < steps.length; i++) {
      if (mask[i] === 0) continue;
      steps[i]++;
      this.left--;
      if (steps[i] === NUM_STEPS) mask[i] = 0;
    }
  }
}
