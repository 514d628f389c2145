/** What players earn, and what each exploit and each bit of knowledge is worth: always on the same weeks. */
import { pairedInterval } from '../evaluate/ranking.js';
import { type Interval, intervalOf } from '../evaluate/statistics.js';
import { COMPONENT_NAMES, NUM_COMPONENTS } from '../world/fields.js';
import type { Play } from './play.js';
import { HEURISTIC, type Player } from './players.js';

/** What one component brings. */
export interface ComponentGain {
  /** Its mean. */
  readonly mean: number;
  /** By how much it raises the final score over the heuristic's: weight times difference, before clamping. */
  readonly gain: Interval;
}

/** One player. */
export interface AuditRow extends Pick<Player, 'role' | 'belief'> {
  readonly policy: string;
  readonly episodes: number;
  readonly finalScore: Interval;
  /** Over the heuristic. */
  readonly price: Interval;
  readonly beliefMae: number;
  readonly earlyMean: number;
  readonly lateMean: number;
  readonly components: Readonly<Record<string, ComponentGain>>;
}

/** Mean differences of final scores, with their 95 % intervals. */
export interface Prices {
  /** What the constant belief earns the heuristic. */
  readonly constantBelief: Interval;
  /** What one tape for everybody earns over the heuristic, without belief and with the constant one. */
  readonly blindTape: Interval;
  readonly blindTapeWithConstant: Interval;
  /** What early neglect earns: the blind tape over the one whose first half is no worse than the heuristic's. */
  readonly sandbagging: Interval;
  /** What pushing one component alone earns over the heuristic. */
  readonly saturation: Readonly<Record<string, Interval>>;
  /** What knowing the person earns over the best that ignores them, in all; on the weeks of persons with a tape of their own. */
  readonly person: Interval;
  /** On the same weeks: by a true belief instead of the constant one, on the blind tape ... */
  readonly personBelief: Interval;
  /** ... and by a tape of each person's own, on true beliefs. */
  readonly personActions: Interval;
}

/** @param weights f32 [6], the grader's. */
export function rowsOf(plays: readonly Play[], weights: Float32Array): AuditRow[] {
  const baseline = playOf(plays, HEURISTIC.name);
  return plays.map((play) => ({
    policy: play.player.name,
    role: play.player.role,
    belief: play.player.belief,
    episodes: play.seeds.length,
    finalScore: intervalOf(play.scores),
    price: differenceOf(play, baseline),
    beliefMae: meanOf(play.beliefMae),
    earlyMean: meanOf(play.earlyMeans),
    lateMean: meanOf(play.lateMeans),
    components: componentsOf(play, baseline, weights),
  }));
}

export function pricesOf(plays: readonly Play[], best: Play): Prices {
  const over = (name: string, other: string): Interval =>
    differenceOf(playOf(plays, name), playOf(plays, other));
  const known = playOf(plays, 'oracle+truth').seeds.length;
  const pushes = plays.filter(({ player }) => player.role === 'push');
  return {
    constantBelief: over('heuristic+constant', 'heuristic'),
    blindTape: over('blind-tape', 'heuristic'),
    blindTapeWithConstant: over('blind-tape+constant', 'heuristic'),
    sandbagging: over('blind-tape', 'honest-tape'),
    saturation: Object.fromEntries(
      pushes.map(({ player: { name } }) => [name.slice(name.indexOf(':') + 1), over(name, 'heuristic')]),
    ),
    person: differenceOf(playOf(plays, 'oracle+truth'), best),
    personBelief: differenceOf(
      playOf(plays, 'blind-tape+truth'),
      playOf(plays, 'blind-tape+constant'),
      known,
    ),
    personActions: over('oracle+truth', 'blind-tape+truth'),
  };
}

/** The best of those who do not look at the person, by its mean on all fresh seeds. */
export function bestBlindOf(plays: readonly Play[]): Play {
  const blind = plays.filter(({ player }) => player.role !== 'oracle');
  return blind.reduce((best, play) => (meanOf(play.scores) > meanOf(best.scores) ? play : best));
}

function playOf(plays: readonly Play[], name: string): Play {
  return plays.find(({ player }) => player.name === name)!;
}

/** Paired, on the weeks that both have played, or the first of them: one's seeds begin the other's. */
function differenceOf(play: Play, other: Play, most = Infinity): Interval {
  const n = Math.min(play.seeds.length, other.seeds.length, most);
  return pairedInterval(play.scores.subarray(0, n), other.scores.subarray(0, n));
}

function componentsOf(play: Play, baseline: Play, weights: Float32Array): AuditRow['components'] {
  const n = play.seeds.length;
  const entries = COMPONENT_NAMES.map((name, k) => {
    const mine = columnOf(play.components, k, n);
    const theirs = columnOf(baseline.components, k, n);
    const gains = Float64Array.from(mine, (value, i) => weights[k] * (value - theirs[i]));
    return [name, { mean: meanOf(mine), gain: intervalOf(gains) }];
  });
  return Object.fromEntries(entries);
}

const columnOf = (components: Float32Array, k: number, n: number): Float32Array =>
  Float32Array.from({ length: n }, (_, i) => components[i * NUM_COMPONENTS + k]);

const meanOf = (values: Float32Array): number => intervalOf(values).mean;
