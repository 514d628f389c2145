/** A small audit for tests of reports. */

import { SCHEMAS } from '../../src/shared/schemas.js';
import { packageVersion } from '../../src/shared/version.js';
import { ACTION_NAMES, COMPONENT_NAMES } from '../../src/world/fields.js';
import { WORLD } from './open-batch.js';

const interval = (mean: number) => ({ mean, low: mean - 0.01, high: mean + 0.01 });
const byComponent = <T>(value: T) => Object.fromEntries(COMPONENT_NAMES.map((name) => [name, value]));

const row = (policy: string, role: string, gain: number) => ({
  policy,
  role,
  belief: 'none',
  episodes: 20,
  final_score: interval(0.45 + gain),
  gain: interval(gain),
  belief_mae: 0.2,
  early_mean: 0.01,
  late_mean: -0.02,
  components: byComponent({ mean: 0.5, gain: interval(0) }),
});

/** An audit in the form of `audit --json`, with invented numbers. */
export const AUDIT = {
  schema: SCHEMAS.audit,
  version: packageVersion(),
  world_digest: WORLD.digest,
  backend: 'native',
  kernel: 'scalar',
  threads: 1,
  device: null,
  machine: { cpu: 'A processor (R)', cores: 2, arch: 'x64', node: 'v20.0.0' },
  grader: 'v2',
  grader_weights: byComponent(1 / 6),
  seed: 0,
  evaluations: 10,
  seconds: 1,
  seeds: {
    training: '5 from 100 to 200',
    // The training seeds of the search for each profile.
    per_profile: '5 from 100 to 200',
    fresh: '20000-20019',
    // The fresh seeds of the profiles that have a search for their own sequence.
    profiles: '20000-20001',
  },
  rows: [
    row('random', 'baseline', -0.05),
    row('heuristic', 'baseline', 0),
    row('open-loop', 'exploit', 0.15),
  ],
  sequences: [{ policy: 'open-loop', actions: Array.from({ length: 28 }, (_, k) => ACTION_NAMES[k % 10]) }],
  verdict: 'Under grader v2, a policy that ignores the profile gains up to 0.150 ±0.010 over the heuristic.',
};
