/** A stand-in for a device (device-stand-in.ts) on the reference, which a test can make unavailable or lose. */

import type { Backend, Batch, BatchOptions } from '../../src/engine/backends/backend.js';
import type { DeviceOptions } from '../../src/engine/backends/device-options.js';
import type { Platform } from '../../src/engine/backends/open-batch.js';
import { referenceBackend } from '../../src/engine/backends/reference.js';
import { replayHistory } from '../../src/engine/reference/saved-states.js';
import { BackendError } from '../../src/shared/errors.js';
import { openStandIn, type StandIn } from './device-stand-in.js';

const PROPERTIES = {
  backend: 'deferred',
  kernel: 'the only one',
  device: { adapter: 'a test double', software: false, exact: true },
};

export class DeferredBackend implements Backend {
  readonly name = PROPERTIES.backend;
  /** The reason why the backend is unavailable; null if it is available. */
  reason: string | null = null;
  /** Whether each new batch loses its device at once. */
  fragile = false;
  /** The opened batches, and their device options. */
  readonly batches: StandIn[] = [];
  readonly devices: DeviceOptions[] = [];
  /** A platform whose synchronous environments use the reference. */
  readonly platform: Platform = {
    backends: [referenceBackend],
    asyncBackends: [this, referenceBackend],
    replayHistory,
  };

  async availability() {
    const { name, reason } = this;
    return reason === null ? { name, available: true } : { name, available: false, reason };
  }

  kernels() {
    return [];
  }

  async open({ device, ...options }: BatchOptions): Promise<Batch> {
    if (this.reason !== null) throw new BackendError('backend_unavailable', this.reason);
    this.devices.push(device!);
    const batch = await openStandIn(referenceBackend, options, PROPERTIES);
    batch.lost = this.fragile;
    this.batches.push(batch);
    return batch;
  }

  /** Loses the device of every batch. */
  lose(): void {
    for (const batch of this.batches) batch.lost = true;
  }
}
