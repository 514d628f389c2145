/** The backends of browsers. */
import { expect, it } from 'vitest';
import { BROWSER, listAsyncBackends, listBackends } from '../../../src/engine/backends/browser.js';
import { openVecEnv } from '../../../src/engine/vec-env/vec-env.js';

it('the synchronous API has the reference; the asynchronous API has WebGPU, then the reference', async () => {
  expect(listBackends()).toEqual([{ name: 'reference', available: true }]);
  expect((await listAsyncBackends()).map(({ name }) => name)).toEqual(['webgpu', 'reference']);
  expect(openVecEnv(BROWSER, { numEnvs: 1 }).backend).toBe('reference');
});
