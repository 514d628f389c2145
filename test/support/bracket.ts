/** An audit of v2 for tests of `--bracket`. `eval` places scores between its anchors (src/evaluation/audit/controls.ts). */
import { toGrader } from '../../src/engine/graders/grader.js';
import { packageVersion } from '../../src/shared/version.js';
import { AUDIT } from './report.js';

const interval = (mean: number, half = 0.01) => ({ mean, low: mean - half, high: mean + half });
const seeds = { sequence_seeds: '20000-20999', oracle_seeds: '20000-20099' };

/**
 * The JSON of an audit of v2. Its anchors are 0.25 and 0.75 for sampled profiles. Those for discrete profiles, 0.5 and 0.51,
 * lie closer than the 0.02 that `--bracket` needs.
 */
export const BRACKET_AUDIT = {
  ...AUDIT,
  version: packageVersion(),
  grader_weights: toGrader('v2').weights,
  anchors: {
    sampled: { sequence: interval(0.25), oracle: interval(0.75, 0.02), ...seeds },
    discrete: { sequence: interval(0.5), oracle: interval(0.51), ...seeds },
  },
};

/** The version and the world digest of BRACKET_AUDIT. */
export const TEST_SETTINGS = { version: BRACKET_AUDIT.version, worldDigest: BRACKET_AUDIT.world_digest };
