/** What requests of /v1 share: an engine, turns, counts. */
import type { VecEnvOptions } from '../../vec-env/options.js';
import { createWorld } from '../../world/world.js';
import { Turns } from '../turns.js';

export interface BatchesOptions extends Pick<VecEnvOptions, 'backend' | 'kernel' | 'threads'> {
  readonly batchRequests: number;
  readonly onDone: (what: BatchKind, count: number) => void;
}

export type BatchKind = 'scored' | 'rollouts' | 'prompts';

export class Batches extends Turns {
  readonly engine: Pick<VecEnvOptions, 'backend' | 'kernel' | 'threads'>;
  readonly worldDigest = createWorld().digest;
  readonly count: (what: BatchKind, count: number) => void;
  /** For the description of their routes. */
  readonly failures = {
    413: 'The body is larger than the server reads',
    503: 'As many requests of /v1 as the server takes are in progress; the header Retry-After says when to come back',
  };

  constructor({ backend, kernel, threads, batchRequests, onDone }: BatchesOptions) {
    super(batchRequests);
    this.engine = { backend, kernel, threads };
    this.count = onDone;
  }
}
