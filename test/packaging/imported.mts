/** A program in TypeScript: `import` of the package and of every subpath for Node, with their types. */
import * as rhythm from 'rhythm-vec';
import * as agents from 'rhythm-vec/agents';
import { createVecEnv, InputError, type VecEnv } from 'rhythm-vec/env';
import * as evaluation from 'rhythm-vec/evaluation';
import * as rollouts from 'rhythm-vec/rollouts';
import * as server from 'rhythm-vec/server';
import * as training from 'rhythm-vec/training';

const env: VecEnv = createVecEnv({ numEnvs: 2, backend: 'native' });
env.reset({ seed: 1 });
const { finalScores } = env.run('heuristic');
const scores: Float32Array = finalScores;
const functions: unknown[] = [
  agents.openLoopActions,
  evaluation.evaluate,
  rollouts.scoreReplay,
  server.openServer,
  training.teach,
];
const same: boolean = rhythm.InputError === InputError;
console.log(
  env.backend,
  scores.length,
  functions.every((each) => typeof each === 'function'),
  same,
);
env.close();
