/** The rollouts in progress and the number of their steps. */
import { NUM_STEPS, OBSERVATION, OBSERVATION_SIZE } from '../../world/fields.js';
import type { GroupStart } from './group-start.js';

export class ActiveRollouts {
  readonly started: GroupStart;
  /** u8 [n]: steps that each episode has taken, including those before the rollout began. */
  readonly steps: Uint8Array;
  /** u8 [n]: 1 while the episode has steps left. */
  readonly mask: Uint8Array;
  /** The number of steps of all rollouts together: from the start on, and still left. */
  readonly total: number;
  left: number;

  constructor(started: GroupStart) {
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

  /** Counts one step of every rollout that still plays. */
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
