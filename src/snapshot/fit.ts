/** Whether a snapshot goes on in an environment as it would have where it was taken. */
import type { World } from '../world/world.js';
import type { Snapshot } from './format.js';
import { refuse } from './refuse.js';

/** What an environment must have in common with a snapshot. */
export interface SnapshotHome extends Pick<Snapshot, 'numEnvs' | 'autoreset' | 'imagination'> {
  readonly world: World;
}

/**
 * Compares a snapshot with the environment that shall take it.
 * @throws InputError `bad_snapshot` that names what differs: the world, numEnvs, imagination or autoreset.
 */
export function checkFit(snapshot: Snapshot, { world, ...home }: SnapshotHome): void {
  if (snapshot.worldDigest !== world.digest) {
    refuse(
      `a snapshot of this environment's world, ${world.digest}`,
      `one of ${snapshot.worldDigest}`,
      'Create an environment with the world that it was taken in.',
    );
  }
  for (const name of ['numEnvs', 'imagination', 'autoreset'] as const) {
    if (snapshot[name] === home[name]) continue;
    refuse(
      `a snapshot of ${name} ${home[name]}, as this environment has it`,
      `${snapshot[name]}`,
      `Create an environment with { ${name}: ${JSON.stringify(snapshot[name])} }.`,
    );
  }
}
