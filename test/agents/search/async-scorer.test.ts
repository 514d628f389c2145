/** A scorer on batches whose calls return promises has the scores of the reference. */
import { it } from 'vitest';
import { openStandIn } from '../../support/stand-in-batch.js';
import { expectSameScores } from '../../support/async-scores.js';

it('a scorer whose calls return promises has the scores of the reference', () =>
  expectSameScores(openStandIn));
