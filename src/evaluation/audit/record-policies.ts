/** Records the episodes of a user's policies in an audit. */

import { openAnyVecEnv } from '../../engine/node.js';
import { NUM_BELIEFS, NUM_STEPS } from '../../world/fields.js';
import { trueProfilesOf } from '../play-policy.js';
import type { UserPolicy } from '../user-policy.js';
import type { AuditRequest } from './audit-options.js';
import { freshSeeds } from './audit-seeds.js';
import { type Player, recordedPlayer, silentPlayer } from './players.js';
import { emptyRecording, type Recording } from './record-episodes.js';

/**
 * Plays each policy in as many episodes as a planner, with the first fresh seeds (audit-seeds.ts).
 * @returns players with the recorded actions and beliefs, in the order of the policies.
 */
export async function recordPolicies(request: AuditRequest): Promise<Player[]> {
  const players: Player[] = [];
  for (const policy of request.policies) {
    const { name } = policy;
    const recording = await request.piece({
      name: `policy ${name}`,
      compute: () => recordPolicy(request, policy),
      ifSkipped: () => emptyRecording(request.plannerEpisodes),
    });
    const isSilent = recording.beliefs.every(Number.isNaN);
    players.push(
      isSilent ? silentPlayer('policy', name, recording.actions) : recordedPlayer('policy', name, recording),
    );
  }
  return players;
}

async function recordPolicy(request: AuditRequest, policy: UserPolicy): Promise<Recording> {
  const { engine, weights, grader, signal, plannerEpisodes: numEnvs } = request;
  const seeds = freshSeeds(numEnvs);
  await using env = await openAnyVecEnv({ numEnvs, grader: weights, ...engine });
  const { world } = env;
  using player = await policy.open({ ...engine, numEnvs, grader, world }, signal);
  let { observations } = await env.reset({ seed: seeds });
  const playing = new Uint8Array(numEnvs).fill(1);
  const batch = { profile: 'sampled', seeds };
  await player.reset?.({ mask: playing.slice(), seeds, profiles: () => trueProfilesOf(world, batch) });
  const actions = new Uint8Array(numEnvs * NUM_STEPS);
  const beliefs = new Float32Array(actions.length * NUM_BELIEFS).fill(Number.NaN);
  for (let step = 0; step < NUM_STEPS; step++) {
    const move = await player.act({ observations, steps: new Uint8Array(numEnvs).fill(step), playing });
    for (let i = 0; i < numEnvs; i++) {
      const row = i * NUM_STEPS + step;
      actions[row] = move.actions[i];
      if (move.beliefs !== null)
        beliefs.set(move.beliefs.subarray(i * NUM_BELIEFS, (i + 1) * NUM_BELIEFS), row * NUM_BELIEFS);
    }
    ({ observations } = await env.step(move.actions, { beliefs: move.beliefs ?? undefined }));
    signal?.throwIfAborted();
  }
  return { actions, beliefs };
}
