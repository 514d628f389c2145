/** Rollouts and replay scores on WebGPU have the same bits as on the reference. */
import { it } from 'vitest';
import { NODE } from '../../src/engine/backends/node.js';
import { expectSameGroups, expectSameReplays } from '../support/async-rollouts.js';
import { describeGpu } from '../support/gpu-suite.js';

const WEBGPU = { platform: NODE, backend: 'webgpu' };

describeGpu('on WebGPU', () => {
  it('replay scores and faults equal those of the reference', () => expectSameReplays(WEBGPU, 300));

  it('rollouts, and the histories that a policy reads, equal those of the reference', () =>
    expectSameGroups(WEBGPU));
});
