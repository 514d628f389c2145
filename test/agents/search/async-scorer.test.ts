/** A scorer of action sequences, on batches whose calls return promises, has the scores of the reference. */
import { it } from 'vitest';
import { expectSameScores } from '../../support/async-scores.js';
import { openStandIn } from '../../support/stand-in-batch.js';

it('a scorer of action sequences, on batches whose calls return promises, has the scores of the reference', () =>
  expectSameScores(openStandIn));
