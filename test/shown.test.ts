/** Outputs are current after every call, and a copy shows what its original showed. */
import { describe, expect, it } from 'vitest';
import { chooseBackend } from '../src/backends/choose.js';
import { allocateOutputs } from '../src/backends/outputs.js';
import { MODE } from '../src/world/fields.js';
import { RHYTHM } from '../src/world/spec.js';
import { createWorld } from '../src/world/world.js';
import { ENGINES, type Engine, openOn } from './support/engines.js';

const numEnvs = 37;
const stops = Array.from({ length: numEnvs }, (_, i) => (i * 5) % 29);

function open(engine: Engine, imagination: boolean) {
  const { backend } = chooseBackend(engine.backend, engine.kernel ?? null);
  const outputs = allocateOutputs(numEnvs);
  const options = {
    numEnvs,
    world: createWorld(),
    imagination,
    threads: 1,
    kernel: engine.kernel ?? null,
    outputs,
  };
  return { batch: backend.open(options), outputs };
}

describe.each(ENGINES)('$name', (engine) => {
  it('a run to its stops shows what its steps would have shown', () => {
    using whole = openOn(engine, { numEnvs });
    whole.reset({ seed: 5 });
    const { trajectory } = whole.run('heuristic', { stops, trajectory: true });
    const { observations, rewards } = whole.reset({ seed: 5 });
    whole.run('heuristic', { stops });
    stops.forEach((stop, i) => {
      using one = openOn(engine, { numEnvs: 1 });
      let last = one.reset({ seed: 5 + i });
      for (let t = 0; t < stop; t++) last = one.step([trajectory!.actions[i * 28 + t]]);
      expect(observations.slice(i * 22, (i + 1) * 22)).toEqual(last.observations.slice());
      expect(rewards[i]).toBe(last.rewards[0]);
    });
  });

  it('a copy in imagination shows the step that really happened', () => {
    const real = open(engine, false);
    const imagined = open(engine, true);
    const seeds = Uint32Array.from({ length: numEnvs }, (_, i) => i);
    const modes = new Uint8Array(numEnvs).fill(MODE.sampled);
    const graders = Float32Array.from({ length: numEnvs * 6 }, (_, i) => RHYTHM.graders.v2[i % 6]);
    real.batch.reset({ mask: null, seeds, modes, profiles: null, graders });
    const beliefs = { kind: 'constant', belief: Float32Array.of(0.5, 0.25, 1) } as const;
    real.batch.run({
      policy: { kind: 'heuristic' },
      beliefs,
      stops: Uint8Array.from(stops),
      trajectory: null,
    });
    const reversed = seeds.slice().reverse();
    imagined.batch.gather(real.batch, reversed);
    reversed.forEach((source, i) => {
      expect(imagined.outputs.rewards[i]).toBe(real.outputs.rewards[source]);
      expect(imagined.outputs.finalScores[i]).toBe(real.outputs.finalScores[source]);
      expect(imagined.outputs.observations.slice(i * 22, (i + 1) * 22)).toEqual(
        real.outputs.observations.slice(source * 22, (source + 1) * 22),
      );
    });
  });

  it('a batch may gather from itself', () => {
    const { batch, outputs } = open(engine, false);
    const seeds = Uint32Array.from({ length: numEnvs }, (_, i) => i);
    const modes = new Uint8Array(numEnvs).fill(MODE.discrete);
    const graders = Float32Array.from({ length: numEnvs * 6 }, (_, i) => RHYTHM.graders.v1[i % 6]);
    batch.reset({ mask: null, seeds, modes, profiles: null, graders });
    batch.run({
      policy: { kind: 'heuristic' },
      beliefs: null,
      stops: Uint8Array.from(stops),
      trajectory: null,
    });
    const before = outputs.observations.slice();
    const hashes = batch.stateHash();
    const rotated = seeds.map((i) => (i + 1) % numEnvs);
    batch.gather(batch, rotated);
    expect(batch.stateHash()).toEqual(hashes.map((_, i) => hashes[rotated[i]]));
    rotated.forEach((source, i) => {
      expect(outputs.observations.slice(i * 22, (i + 1) * 22)).toEqual(
        before.slice(source * 22, (source + 1) * 22),
      );
    });
  });
});
