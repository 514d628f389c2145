/** The audit of a grader: what it really pays for. */
import { describeRun, type RunInfo } from '../evaluate/run-info.js';
import { ACTION_NAMES } from '../world/fields.js';
import { explore } from './explore.js';
import { type AuditOptions, type AuditRequest, toAuditRequest } from './options.js';
import { type Play, Stage } from './play.js';
import { type Player, playersOf } from './players.js';
import { type AuditRow, bestBlindOf, type Prices, pricesOf, rowsOf } from './prices.js';
import { FRESH_FIRST, luckSeeds, trainingSeeds } from './seeds.js';
import { verdictOf } from './verdict.js';
import { type Week, weekOf } from './weeks.js';

/** A tape for everybody that was found. */
export interface AuditTape {
  readonly policy: string;
  /** Names, [28] by step. */
  readonly actions: readonly string[];
  /** What it came to in training, under the grader that it was searched with. */
  readonly trainingScore: number;
  /** How many tapes were scored in its search. */
  readonly evaluations: number;
}

export interface Audit extends RunInfo {
  readonly seed: number;
  readonly evaluations: number;
  /** Which weeks everything was found in, and scored on. */
  readonly seeds: {
    readonly training: string;
    readonly luck: string;
    readonly fresh: string;
    readonly persons: string;
  };
  /** Wall time. */
  readonly seconds: number;
  /** In the order of a table. */
  readonly rows: readonly AuditRow[];
  /** The best row of those that ignore the person. */
  readonly bestBlind: string;
  readonly prices: Prices;
  readonly tapes: readonly AuditTape[];
  /** What it comes to, in one paragraph. */
  readonly verdict: string;
  /** For pictures; not part of the JSON. */
  readonly weeks: readonly Week[];
}

/**
 * Finds out what a grader really pays for, before anything is trained under it: by searching for the best that can be done
 * without looking at the person, with and without early neglect, by pushing each component alone, and for the best that
 * can be done knowing the person; and by scoring all of it on fresh seeds, paired. The same options give the same numbers,
 * whatever computes them.
 * @throws InputError for what is wrong with an option, before anything is played; BackendError if the backend or kernel
 *   asked for cannot be used here; the signal's reason.
 */
export async function audit(options: AuditOptions = {}): Promise<Audit> {
  const request = toAuditRequest(options);
  const started = performance.now();
  using stage = new Stage(request);
  const players = playersOf(await explore(request), request.weights);
  const plays = players.map((player) => stage.play(player));
  return {
    ...describeRun(stage.env, request.grader),
    ...settingsOf(request),
    ...judge(plays, request),
    tapes: players.flatMap(tapeOf),
    weeks: players.flatMap((player) => weekOf(stage, player)),
    seconds: (performance.now() - started) / 1000,
  };
}

function judge(plays: readonly Play[], { grader, weights }: AuditRequest) {
  const rows = rowsOf(plays, weights);
  const best = bestBlindOf(plays);
  const prices = pricesOf(plays, best);
  const bestRow = rows[plays.indexOf(best)];
  return { rows, bestBlind: bestRow.policy, prices, verdict: verdictOf(grader.name, bestRow, prices) };
}

function settingsOf({ seed, evaluations, episodes, persons }: AuditRequest) {
  const spread = (seeds: Uint32Array): string => `${seeds.length} from ${seeds[0]} to ${seeds.at(-1)}`;
  return {
    seed,
    evaluations,
    seeds: {
      training: spread(trainingSeeds()),
      luck: spread(luckSeeds()),
      fresh: `${FRESH_FIRST}-${FRESH_FIRST + episodes - 1}`,
      persons: `${FRESH_FIRST}-${FRESH_FIRST + persons - 1}`,
    },
  };
}

function tapeOf({ name, belief, found }: Player): AuditTape[] {
  if (found === null || belief !== 'none') return [];
  const { tape, score, evaluations } = found;
  const actions = Array.from(tape, (action) => ACTION_NAMES[action]);
  return [{ policy: name, actions, trainingScore: score, evaluations }];
}
