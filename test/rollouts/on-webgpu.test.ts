/** Rollouts and replay scores on WebGPU: the bits of the reference. */
import { it } from 'vitest';
import { NODE } from '../../src/engine/backends/node.js';
import { expectSameGroups, expectSameReplays } from '../support/async-rollouts.js';
import { describeGpu } from '../support/gpu-suite.js';

const WEBGPU = { platform: NODE, backend: 'webgpu' };

describeGpu('on WebGPU', () => {
  it('replay scores are the same, with the same faults', () => expectSameReplays(WEBGPU, 300));

  it('rollouts are the same, and so are the histories that a policy reads', () => expectSameGroups(WEBGPU));
});
