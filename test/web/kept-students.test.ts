/** Students kept by the page: the crowd and the ranking score them as the engine does. graderOf names a student's grader. */
import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { loadStudent } from '../../src/agents/student/packaged-students.js';
import { encodeStudent } from '../../src/agents/student/student-file.js';
import { createVecEnv, regrade } from '../../src/index.js';
import { type Chunk, openChunkPlayer } from '../../web/src/engine/chunk-player.js';
import { BAND_EPISODES, type CrowdRequest } from '../../web/src/engine/requests.js';
import { runCrowd } from '../../web/src/engine/run-crowd.js';
import { playPolicies } from '../../web/src/graders/play-policies.js';
import { RANKED_POLICIES, rankedPolicy } from '../../web/src/graders/verdict.js';
import { graderOf } from '../../web/src/person/episode.js';
import { NODE } from '../../web/src/workers/platform.js';

const student = await loadStudent('student-v2');
const file = { name: 'ada', file: encodeStudent(student.manifest, student.network) };

/** Plays the student step by step with the engine. @returns the final scores. */
function finalScores(grader: string, seeds: Uint32Array): Float32Array {
  const numEnvs = seeds.length;
  using env = createVecEnv({ numEnvs, grader });
  const player = student.open({ numEnvs, grader: null, world: env.world });
  const playing = new Uint8Array(numEnvs).fill(1);
  let result = env.reset({ seed: seeds });
  for (let step = 0; step < 28; step++) {
    const { observations } = result;
    const steps = new Uint8Array(numEnvs).fill(step);
    const { actions, beliefs } = player.act({ observations, playing, steps });
    result = env.step(actions, { beliefs });
  }
  return result.finalScores.slice();
}

const seedsFrom = (first: number, count: number) => Uint32Array.from({ length: count }, (_, i) => first + i);

/** Opens two players, as the page opens workers. The first one answers after the second one has played three chunks. */
function openTwo(request: CrowdRequest) {
  const [slow, fast] = [0, 1].map(() => openChunkPlayer(request, [file], NODE));
  let played = 0;
  let go = (): void => {};
  const awaited = new Promise<void>((resolve) => {
    go = resolve;
  });
  const lateFirst = {
    async play(chunk: Chunk) {
      await awaited;
      return slow.play(chunk);
    },
  };
  const early = {
    async play(chunk: Chunk) {
      const result = await fast.play(chunk);
      played += 1;
      if (played === 3) go();
      return result;
    },
  };
  return [lateFirst, early];
}

it('a kept student is a policy of the crowd, with the scores of the engine, whichever worker answers first', async () => {
  const request = {
    numEpisodes: 5000,
    seed: 7,
    policies: ['ada', 'heuristic'],
    grader: 'v3',
    profiles: 'sampled',
  };
  const players = {
    ...{ gpu: null, onGpuFailure: () => {}, hasStudent: true },
    openWorkers: () => openTwo(request),
  };
  const { signal } = new AbortController();
  const { policies, pairing } = await runCrowd(request, players, () => {}, signal);
  const expected = finalScores('v3', seedsFrom(7, 5000));
  const digest = createHash('sha256').update(new Uint8Array(expected.buffer)).digest('hex');
  expect(policies.map(({ name }) => name)).toEqual(['ada', 'heuristic']);
  expect(policies[0].digest).toBe(digest);
  expect(policies[0].bands.episodes).toBe(BAND_EPISODES);
  expect(pairing!.better).toBeGreaterThan(0.9);
});

it('a kept student is ranked with the policies of the graders view, as a policy that infers', async () => {
  const seeds = seedsFrom(20_000, 6);
  using env = createVecEnv({ numEnvs: seeds.length });
  const components = await playPolicies(env, seeds, [file]);
  expect(components).toHaveLength(RANKED_POLICIES.length + 1);
  expect(regrade(components.at(-1)!, 'v2')).toEqual(finalScores('v2', seeds));
  expect(rankedPolicy('ada').beliefs).toBe('inference');
});

it('a kept student has the grader that it was trained for, and v3 if its file is damaged', () => {
  expect(graderOf(file)).toBe('v2');
  expect(graderOf({ name: 'ada', file: file.file.slice(0, 100) })).toBe('v3');
});
