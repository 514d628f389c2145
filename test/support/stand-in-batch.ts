/** Opens batches on a stand-in for a device, which computes on the reference: see device-stand-in.ts. */

import { type OpenBatch, openAnyBatch } from '../../src/engine/backends/any-batch.js';
import { toAsyncBackend } from '../../src/engine/backends/async-adapter.js';
import type { Platform } from '../../src/engine/backends/platform.js';
import { referenceBackend } from '../../src/engine/backends/reference.js';
import { standInFor } from './device-stand-in.js';

/** A platform with the reference, and with the backend 'stand-in', which only the asynchronous API has. */
export const STAND_IN_PLATFORM: Platform = {
  backends: [referenceBackend],
  asyncBackends: [standInFor({ backend: referenceBackend, kernel: null }), toAsyncBackend(referenceBackend)],
};

export const openStandIn: OpenBatch = (_, choice, shape) =>
  openAnyBatch(STAND_IN_PLATFORM, { ...choice, backend: 'stand-in' }, shape);
