/** Tests that ResizableEnv and ResizableAnyEnv open another environment after a refused size. */
import { expect, it } from 'vitest';
import { ResizableAnyEnv, ResizableEnv } from '../../src/rollouts/resizable-env.js';

for (const Kind of [ResizableEnv, ResizableAnyEnv]) {
  it(`${Kind.name} opens an environment again after a refused size`, async () => {
    const resizable = new Kind({ backend: 'reference' });
    const first = await resizable.of(2);
    expect(await resizable.of(2)).toBe(first);
    await expect(async () => resizable.of(-1)).rejects.toThrow('numEnvs');
    const second = await resizable.of(2);
    expect((await second.reset({ seed: 0 })).observations.length).toBe(44);
    expect(() => first.reset({ seed: 0 })).toThrow('closed');
  });
}
