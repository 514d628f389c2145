/** A CommonJS program in TypeScript: `require` of the package and of every subpath for Node, with their types. */
import rhythm = require('rhythm-vec');
import agents = require('rhythm-vec/agents');

import { createVecEnv, InputError, type VecEnv } from 'rhythm-vec/env';

import evaluation = require('rhythm-vec/evaluation');
import rollouts = require('rhythm-vec/rollouts');
import server = require('rhythm-vec/server');
import training = require('rhythm-vec/training');

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
