/** Whether a snapshot goes on in an environment as it would have where it was taken. */
import type { World } from '../world/world.js';
import type { Snapshot } from './format.js';
import { refuse } from './refuse.js';

/** What an environment must have in common with a snapshot. */
export interface SnapshotHome extends Pick<Snapshot, 'numEnvs' | 'autoreset' | 'imagination' | 'seedRange'> {
  readonly world: World;
}

/**
 * Compares a snapshot with the environment that is to take it.
 * @throws InputError `bad_snapshot` that names what differs: the world, numEnvs, imagination, autoreset or seedRange.
 */
export function checkFit(snapshot: Snapshot, { world, ...home }: SnapshotHome): void {
  if (snapshot.worldDigest !== world.digest) {
    refuse(
      `a snapshot of this environment's world, ${world.digest}`,
      `one of ${snapshot.worldDigest}`,
      'Create an environment with the world that it was taken in.',
    );
  }
  for (const name of ['numEnvs', 'imagination', 'autoreset', 'seedRange'] as const) {
    const [wanted, got] = [JSON.stringify(home[name]), JSON.stringify(snapshot[name])];
    if (wanted === got) continue;
    refuse(
      `a snapshot of ${name} ${wanted}, as this environment has it`,
      got,
      `Create an environment with { ${name}: ${got} }.`,
    );
  }
}
