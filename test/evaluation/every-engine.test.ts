/** Evaluations, re-evaluations and audits have the same results on every engine. */
import { beforeAll, describe, expect, it } from 'vitest';
import { toGrader } from '../../src/engine/graders/grader.js';
import { AuditEnvs } from '../../src/evaluation/audit/audit-envs.js';
import { toAuditRequest } from '../../src/evaluation/audit/audit-options.js';
import { fitBeliefs } from '../../src/evaluation/audit/beliefs.js';
import { HEURISTIC, withBelief } from '../../src/evaluation/audit/players.js';
import { Reevaluation } from '../../src/evaluation/reevaluation/reevaluation.js';
import { UserPolicy } from '../../src/evaluation/user-policy.js';
import { evaluate, type LanguageModel, type PolicyFunction } from '../../src/index.js';
import type { TrajectoryEpisode } from '../../src/rollouts/trajectories/trajectory-episode.js';
import { episodeLine, parseEpisode } from '../../src/rollouts/trajectories/trajectory-lines.js';
import { NUM_BELIEFS, NUM_STEPS, OBSERVATION, OBSERVATION_SIZE } from '../../src/world/fields.js';
import { NAMED_ENGINES, reportAbsentEngines } from '../support/async-engines.js';
import type { Engine } from '../support/engines.js';

reportAbsentEngines();

/** A policy whose actions and beliefs depend on the meters. */
const byMeters: PolicyFunction = ({ observations, steps }) => {
  const meter = (i: number, k: number) => observations[i * OBSERVATION_SIZE + OBSERVATION.meters + k];
  return {
    actions: Array.from(steps, (_, i) => (meter(i, 0) < 0.4 ? 3 : i % 10)),
    beliefs: Array.from({ length: steps.length * NUM_BELIEFS }, (_, k) =>
      meter(Math.floor(k / NUM_BELIEFS), k % NUM_BELIEFS),
    ),
  };
};

/** A language model whose answers depend on the prompt. */
const MODEL: LanguageModel = {
  name: 'fixed',
  complete: async ([, { content }]) => ({
    completion: `5 3 5 ${content.includes('night') ? 'SLEEP' : 'LEARN'}`,
    refused: false,
    finish: 'stop',
    usage: { requests: 1 },
  }),
};

const optionsOf = ({ backend, kernel }: Engine) => ({ backend, kernel, threads: 1 });

/** Evaluates the default policies on seeds 0-99 and 10000-10049. */
async function evaluate150(engine: Engine) {
  const { rows } = await evaluate({ conditions: ['in-distribution', 'ood'], ...optionsOf(engine) });
  return rows;
}

/** Returns the lines of recorded episodes of several kinds of policies. */
async function record(engine: Engine): Promise<string[]> {
  const episodes: TrajectoryEpisode[] = [];
  await evaluate({
    ...optionsOf(engine),
    policies: {
      mine: byMeters,
      'open-loop+constant': 'open-loop+constant',
      'heuristic+inference': 'heuristic+inference',
      'llm:fixed': 'llm:fixed',
    },
    llm: { models: [MODEL], concurrency: 1 },
    conditions: ['ood', 'discrete'],
    episodes: 1,
    onTrajectories: (played) => episodes.push(...played),
  });
  return episodes.map(episodeLine);
}

async function reevaluate(engine: Engine, lines: readonly string[]) {
  const graders = [toGrader('v3')];
  await using reevaluation = await Reevaluation.open(optionsOf(engine), graders, [
    new UserPolicy('mine', byMeters),
  ]);
  const mismatches = await reevaluation.add(lines.map(parseEpisode));
  return { mismatches: mismatches.flat(), sections: reevaluation.sections() };
}

/** Fits beliefs, and plays the heuristic with the fitted and with the true beliefs. */
async function auditPlays(engine: Engine) {
  const request = toAuditRequest({ grader: 'v3', evaluations: 1000, episodes: 10, ...optionsOf(engine) });
  const fitted = await fitBeliefs(request, new Uint8Array(NUM_STEPS).fill(3), 'sampled');
  await using envs = new AuditEnvs(request, fitted);
  const plays = [
    await envs.play(withBelief('fitted', HEURISTIC)),
    await envs.play(withBelief('truth', HEURISTIC)),
  ];
  return { fitted, plays };
}

const [REFERENCE, ...OTHERS] = NAMED_ENGINES;

let rows: Awaited<ReturnType<typeof evaluate150>>;
let lines: string[];
let reevaluated: Awaited<ReturnType<typeof reevaluate>>;
let audited: Awaited<ReturnType<typeof auditPlays>>;
beforeAll(async () => {
  rows = await evaluate150(REFERENCE);
  lines = await record(REFERENCE);
  reevaluated = await reevaluate(REFERENCE, lines);
  audited = await auditPlays(REFERENCE);
}, 60_000);

describe.each(OTHERS)('$name computes what the reference computes', (engine) => {
  it('150 episodes of each policy, with the same digests', async () => {
    expect(await evaluate150(engine)).toEqual(rows);
  });

  it('the lines of recorded episodes', async () => {
    expect(await record(engine)).toEqual(lines);
  });

  it('a re-evaluation, without a mismatch', async () => {
    expect(reevaluated.mismatches).toEqual([]);
    expect(await reevaluate(engine, lines)).toEqual(reevaluated);
  });

  it('beliefs and scores of an audit', async () => {
    expect(await auditPlays(engine)).toEqual(audited);
  });
});
