/** The two baseline policies that every backend implements (docs/world.md, Baselines). */
import type { Params } from '../../world/block.js';
import { NUM_ACTIONS } from '../../world/fields.js';
import { below, type Draw, threefry } from './threefry.js';

const draw: Draw = { x0: 0, x1: 0 };

/** Returns the random policy's action at step `step` of an episode. @param policySeed u32. */
export function randomAction(params: Params, seed: number, step: number, policySeed: number): number {
  return below(threefry(seed, params.streamPolicy, step, policySeed, draw).x0, NUM_ACTIONS);
}

/** Returns the heuristic's action: the action of the first rule that applies, else the slot's scheduled action. */
export function heuristicAction(params: Params, slot: number, meters: Float32Array): number {
  for (let rule = 0; rule < params.heuristicBelow.length; rule++) {
    const holds = meters[params.heuristicMeter[rule]] < params.heuristicBelow[rule];
    // Bit s of heuristicSlots[rule] is 1 if the rule applies in slot s.
    if (holds && ((params.heuristicSlots[rule] >>> slot) & 1) === 1) return params.heuristicAction[rule];
  }
  return params.heuristicSchedule[slot];
}
