/** Counts the steps of rollouts in progress. */
import { NUM_STEPS, OBSERVATION, OBSERVATION_SIZE } from '../../world/fields.js';
import type { GroupStart } from './group-start.js';

/** All rollouts, and which of them still play. */
export class ActiveRollouts {
  readonly start: GroupStart;
  /** u8 [n]: the steps of each episode so far, including those before the rollout began. */
  readonly steps: Uint8Array;
  /** u8 [n]: 1 while the episode has steps left. */
  readonly mask: Uint8Array;
  /** The number of steps of all rollouts together, without those before the rollouts began. */
  readonly totalSteps: number;
  /** The number of these steps not yet taken. */
  stepsLeft: number;

  constructor(start: GroupStart) {
    const { observations } = start.outputs;
    this.start = start;
    this.steps = Uint8Array.from(
      { length: start.env.numEnvs },
      (_, i) => observations[i * OBSERVATION_SIZE + OBSERVATION.step],
    );
    this.mask = this.steps.map((steps) => Number(steps < NUM_STEPS));
    this.totalSteps = this.steps.reduce((sum, steps) => sum + NUM_STEPS - steps, 0);
    this.stepsLeft = this.totalSteps;
  }

  /** Counts one step of every rollout that still plays. */
  advance(): void {
    const { steps, mask } = this;
    for (let i = 0; i < steps.length; i++) {
      if (mask[i] === 0) continue;
      steps[i]++;
      this.stepsLeft--;
      if (steps[i] === NUM_STEPS) mask[i] = 0;
    }
  }
}
