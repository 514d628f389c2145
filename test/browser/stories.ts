/** The stories that a page is given, drawn and told in Node: what the reference shows comes with them. */
import { queued } from '../../src/backends/queued.js';
import { referenceBackend } from '../../src/backends/reference.js';
import {
  ACTION_NAMES,
  MODE,
  NUM_BELIEFS,
  NUM_COMPONENTS,
  NUM_STEPS,
  PROFILE_NAMES,
  PROFILE_SIZE,
} from '../../src/world/fields.js';
import { resolveGrader } from '../../src/world/resolve.js';
import { episodes, type GoldenEpisode } from '../support/golden.js';
import { Random } from '../support/random.js';
import { WORLD } from '../support/seam.js';
import { type Move, Player, type RunOfStory, type Scene, type Seen, type Story } from './story.js';

/** A story, and what the reference shows after each of its moves. */
export interface Told {
  readonly story: Story;
  readonly expected: readonly Seen[];
}

/** The reference makes each move when it is drawn, so that the next can depend on who is over. */
class Teller {
  readonly #player: Player;
  readonly #scene: Scene;
  readonly #moves: Move[] = [];
  readonly #expected: Seen[] = [];

  private constructor(player: Player, scene: Scene) {
    this.#player = player;
    this.#scene = scene;
  }

  static async of(scene: Scene): Promise<Teller> {
    return new Teller(await Player.open(queued(referenceBackend), scene), scene);
  }

  /** u8 [numEnvs]: who has taken the last step. */
  get over(): Uint8Array {
    return this.#player.outputs.terminated;
  }

  get numEnvs(): number {
    return this.over.length;
  }

  async make(move: Move): Promise<void> {
    this.#moves.push(move);
    this.#expected.push(await this.#player.make(move));
  }

  saved(): Promise<Uint32Array> {
    return this.#player.batch.save();
  }

  end(): Told {
    this.#player.close();
    return { story: { scene: this.#scene, moves: this.#moves }, expected: this.#expected };
  }
}

/** Resets, steps and runs of some slots, copies, and states that the reference saved: slots get out of phase. */
export async function raggedStory(scene: Scene): Promise<Told> {
  const random = new Random(scene.name);
  const teller = await Teller.of(scene);
  const steps = async (count: number, autoreset?: boolean): Promise<void> => {
    for (let k = 0; k < count; k++)
      await teller.make({ kind: 'step', request: random.step(teller.over, autoreset) });
  };
  await teller.make({ kind: 'reset', request: random.reset(teller.numEnvs) });
  await steps(6);
  await teller.make({ kind: 'run', request: anyRun(random, teller.numEnvs, true) });
  await steps(4);
  const mask = random.mask(teller.numEnvs, 0.4);
  await teller.make({ kind: 'reset', request: { ...random.reset(teller.numEnvs), mask } });
  await teller.make({ kind: 'gather', indices: anyOf(random, teller.numEnvs, teller.numEnvs) });
  await steps(4);
  await teller.make({ kind: 'save', indices: anyOf(random, teller.numEnvs, 7) });
  await teller.make({ kind: 'load', words: await teller.saved() });
  await steps(4);
  const forks = 2 * teller.numEnvs + 5;
  const indices = anyOf(random, teller.numEnvs, forks);
  const toTheirStops = { ...anyRun(random, forks, false), stops: random.stops(forks) };
  await teller.make({ kind: 'fork', indices, request: toTheirStops });
  const stops = new Uint8Array(forks).fill(NUM_STEPS - 1);
  await teller.make({ kind: 'run', request: { ...anyRun(random, forks, true), stops } });
  // Episodes that end and begin anew in the same step.
  await steps(4, true);
  await teller.make({ kind: 'run', request: { ...anyRun(random, forks, true), stops: null } });
  return teller.end();
}

const anyOf = (random: Random, from: number, length: number): Uint32Array =>
  Uint32Array.from({ length }, () => random.integer(0, from - 1));

function anyRun(random: Random, numEnvs: number, records: boolean): RunOfStory {
  const { trajectory: _, from: __, ...request } = random.run(numEnvs);
  return { ...request, records };
}

/** The golden episodes, a slot each: step by step, and then again in one call, with the trajectory. */
export async function goldenStory(imagination: boolean): Promise<Told> {
  const played = episodes.filter((episode) => episode.imagination === imagination);
  const layout = { columnMajor: false, finalObservations: false };
  const name = `the golden episodes${imagination ? ' of imagined luck' : ''}`;
  const teller = await Teller.of({ name, numEnvs: played.length, imagination, layout });
  const none = { stepMask: null, resetMask: null, resetSeeds: null };
  const actions = Uint8Array.from(played.flatMap(codes));
  const { beliefs, given } = believed(played);
  const at = <Rows extends Uint8Array | Float32Array>(rows: Rows, width: number, t: number): Rows =>
    rows.filter((_, k) => Math.floor(k / width) % NUM_STEPS === t) as Rows;

  await teller.make({ kind: 'reset', request: resetOf(played) });
  for (let t = 0; t < NUM_STEPS; t++) {
    const belief = { beliefs: at(beliefs, NUM_BELIEFS, t), given: at(given, 1, t) };
    await teller.make({ kind: 'step', request: { actions: at(actions, 1, t), ...belief, ...none } });
  }
  await teller.make({ kind: 'reset', request: resetOf(played) });
  const policy = { kind: 'tape', actions } as const;
  const tape = { kind: 'tape', beliefs, given } as const;
  await teller.make({ kind: 'run', request: { policy, beliefs: tape, stops: null, records: true } });
  return teller.end();
}

/** Codes of the actions that a golden episode takes. */
const codes = ({ steps }: GoldenEpisode): number[] => steps.map(({ action }) => ACTION_NAMES.indexOf(action));

/** f32 [episodes, 28, 3] and u8 [episodes, 28]. */
function believed(played: readonly GoldenEpisode[]) {
  const rows = played.flatMap(({ steps }) => steps.map(({ belief }) => belief));
  return {
    beliefs: Float32Array.from(rows.flatMap((belief) => belief ?? [Number.NaN, Number.NaN, Number.NaN])),
    given: Uint8Array.from(rows, (belief) => Number(belief !== null)),
  };
}

function resetOf(played: readonly GoldenEpisode[]) {
  const profiles = new Float32Array(played.length * PROFILE_SIZE);
  const graders = new Float32Array(played.length * NUM_COMPONENTS);
  for (const [i, { traits, weights, grader }] of played.entries()) {
    profiles.set([...Object.values(traits), ...Object.values(weights)], i * PROFILE_SIZE);
    graders.set(resolveGrader(WORLD, grader), i * NUM_COMPONENTS);
  }
  return {
    mask: null,
    seeds: Uint32Array.from(played, ({ seed }) => seed),
    modes: Uint8Array.from(played, modeOf),
    profiles,
    graders,
  };
}

/** A named profile is given as its numbers. */
function modeOf({ profile }: GoldenEpisode): number {
  if (profile === 'explicit' || PROFILE_NAMES.includes(profile as never)) return MODE.given;
  return MODE[profile as 'sampled'];
}
