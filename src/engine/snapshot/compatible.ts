/** Checks that an environment can restore a snapshot: both have the same world and options. */
import { identityOf, type World } from '../../world/world.js';
import type { Snapshot } from './format.js';
import { refuse } from './snapshot-error.js';

/** The properties that an environment must share with a snapshot. */
export interface SnapshotTarget
  extends Pick<Snapshot, 'numEnvs' | 'autoreset' | 'imagination' | 'seedRange'> {
  readonly world: World;
}

/**
 * Compares a snapshot with an environment.
 * @throws InputError `bad_snapshot` that names the difference: the world, numEnvs, imagination, autoreset or seedRange.
 */
export function checkCompatible(snapshot: Snapshot, { world, ...target }: SnapshotTarget): void {
  if (snapshot.worldDigest !== world.digest) {
    refuse(
      `a snapshot of this environment's world, ${identityOf(world)}`,
      `one of ${snapshot.worldDigest}`,
      "Create an environment with the snapshot's world.",
    );
  }
  for (const name of ['numEnvs', 'imagination', 'autoreset', 'seedRange'] as const) {
    const [expected, got] = [JSON.stringify(target[name]), JSON.stringify(snapshot[name])];
    if (expected === got) continue;
    refuse(
      `a snapshot with ${name} ${expected} (this environment's)`,
      got,
      `Create an environment with { ${name}: ${got} }.`,
    );
  }
}
