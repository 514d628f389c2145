/** A user's policies in an audit. */
import { describe, expect, it } from 'vitest';
import { AuditEnvs } from '../../../src/evaluation/audit/audit-envs.js';
import { toAuditRequest } from '../../../src/evaluation/audit/audit-options.js';
import { HEURISTIC, type Player } from '../../../src/evaluation/audit/players.js';
import { recordPolicies } from '../../../src/evaluation/audit/record-policies.js';
import { type AuditOptions, builtin, withConstant } from '../../../src/index.js';
import { expectRefusal } from '../../support/refusals.js';

const heuristic = { open: builtin('heuristic').open };
const requestOf = (policies: AuditOptions['policies']) =>
  toAuditRequest({ policies, episodes: 6, plannerEpisodes: 6, profiles: 2 });

describe('policies of an audit', () => {
  it('score as the built-in policies with the same actions', async () => {
    const request = requestOf({ mine: heuristic, 'mine+constant': withConstant(heuristic) });
    const players = await recordPolicies(request);
    expect(players.map(({ name, role, belief }) => [name, role, belief])).toEqual([
      ['mine', 'policy', 'none'],
      ['mine+constant', 'policy', 'own'],
    ]);
    await using envs = new AuditEnvs(request, { fitted: null } as never);
    const scoresOf = async (player: Player) => (await envs.play(player)).scores;
    expect(await scoresOf(players[0])).toEqual(await scoresOf(HEURISTIC));
    expect(await scoresOf(players[1])).toEqual(await scoresOf({ ...HEURISTIC, belief: 'constant' }));
  });

  it.each(['planner', 'open-loop+fitted', 'push:progress', 'reactive'])('may not be named %s', (name) => {
    expectRefusal(() => requestOf({ [name]: heuristic }), 'unknown_name', name, 'another name');
  });

  it('that return invalid actions are named in the error', async () => {
    const wrong = recordPolicies(requestOf({ mine: () => ({ actions: [] }) }));
    await expect(wrong).rejects.toThrow(/The policy "mine" returned it at step 0/);
  });
});
