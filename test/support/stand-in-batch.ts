/** Opens batches on a stand-in for a device, which computes on the reference: see device-stand-in.ts. */

import { type OpenBatch, openBatch, type Platform } from '../../src/engine/backends/open-batch.js';
import { referenceBackend } from '../../src/engine/backends/reference.js';
import { replayHistory } from '../../src/engine/reference/saved-states.js';
import { standInFor } from './device-stand-in.js';

/** A platform with the backend 'stand-in', which only the asynchronous API has, and the reference. */
export const STAND_IN_PLATFORM: Platform = {
  backends: [referenceBackend],
  asyncBackends: [standInFor({ backend: referenceBackend, kernel: null }), referenceBackend],
  replayHistory,
};

/** Opens a batch on the stand-in, whichever platform and backend the caller passes. */
export const openStandIn: OpenBatch = (_, choice, shape) =>
  openBatch(STAND_IN_PLATFORM, { ...choice, backend: 'stand-in' }, shape);
