/**
 * The subpath `rhythm-vec/rollouts` in Node: groups, replay scoring, advantages, rewards, prompts. `rhythm-vec` exports
 * them too.
 * @module
 */

export { createTextEnv, rolloutGroups, scoreReplay, scoreReplayAsync } from '../rollouts/node.js';
export * from './common/rollouts.js';
