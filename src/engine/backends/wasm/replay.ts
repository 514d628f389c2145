/** Replays rows in WebAssembly, as many at a time as the memory holds. */
import { NUM_BELIEFS, NUM_STEPS, PROFILE_SIZE } from '../../../world/fields.js';
import type { ReplayRequest } from '../backend.js';
import type { Exports } from './instance.js';
import type { Stage } from './stage.js';

/** Implements `Batch.replay` for rows whose histories are valid. */
export function replayStaged(exports: Exports, stage: Stage, request: ReplayRequest): void {
  const most = exports.replayRows();
  for (let at = 0; at < request.order.length; at += most)
    replayRows(exports, stage, request, request.order.subarray(at, at + most));
}

function replayRows(exports: Exports, stage: Stage, request: ReplayRequest, rows: Uint32Array): void {
  stage.clear();
  const { rewards, beliefMae, beliefSkill, hashes } = request;
  const pick = (column: Parameters<Stage['pick']>[0], width = 1) => stage.pick(column, width, rows);
  const results = [rewards, beliefMae, beliefSkill, hashes];
  const addresses = results.map(({ BYTES_PER_ELEMENT }) => stage.take(rows.length * BYTES_PER_ELEMENT));
  const order = stage.put(Uint32Array.from(rows.keys()));
  exports.replay(
    ...[order, rows.length],
    ...[pick(request.seeds), pick(request.modes), pick(request.profiles, PROFILE_SIZE)],
    ...[stage.put(request.grader), pick(request.stops), pick(request.histories, NUM_STEPS)],
    ...[pick(request.actions), pick(request.beliefs, NUM_BELIEFS), pick(request.given)],
    ...[pick(request.beliefHistories, NUM_STEPS * NUM_BELIEFS), pick(request.historyGiven, NUM_STEPS)],
    ...addresses,
  );
  results.forEach((array, k) => {
    const computed = stage.view(array, addresses[k], rows.length);
    for (let i = 0; i < rows.length; i++) array[rows[i]] = computed[i];
  });
}
