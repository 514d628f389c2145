/** Compact episodes: what a replay needs, and how they are read. */

import { float32Decimals } from '../../shared/float32-decimal.js';
import { conform, flag, list, object, oneOf, text } from '../../shared/row-schemas.js';
import { ACTION_NAMES, NUM_STEPS } from '../../world/fields.js';
import { LONE_SURROGATE, reasoningIn } from './move.js';
import {
  belief,
  FINAL,
  FIRST,
  OPTIONAL,
  type Player,
  type Sampling,
  type StoredBelief,
  type StoredFinal,
  type TrajectoryEpisode,
  type TrajectoryStep,
  textOrNull,
  type Usage,
} from './trajectory-episode.js';
import {
  BadEpisode,
  checkCondition,
  checkWorld,
  decimalsByName,
  episodeLine,
  graderOf,
  parseEpisode,
  withEpisodeFaults,
} from './trajectory-lines.js';

/**
 * An episode without its observations, prompts, rewards and hidden state, which a replay computes. JSON can store it. Fields
 * have the names and meanings of a trajectory's line; the fields of steps are lists [28]. A float32 is stored as its shortest
 * decimal.
 */
export interface CompactEpisode extends Player {
  readonly version: string;
  readonly world_digest: string;
  readonly condition: string;
  readonly profile_mode: string;
  readonly seed: number;
  readonly grader: TrajectoryEpisode['grader'];
  /** [28]: names of the actions that were played. */
  readonly actions: readonly string[];
  /** [28]: null for a step without a belief. */
  readonly beliefs: readonly (StoredBelief | null)[];
  /** [28]: false if the answer named no action. */
  readonly parsed: readonly boolean[];
  /** [28]: null for a step without a prompt. Null for an episode without prompts. */
  readonly completions: readonly (string | null)[] | null;
  /** [28]: reasoning that the completion does not contain; null for a step without any. Null for an episode without any. */
  readonly reasoning: readonly (string | null)[] | null;
  /** The recorded results. A replay computes them too, so that both can be compared. */
  readonly final: StoredFinal;
  readonly usage?: Usage;
  readonly sampling?: Sampling;
  /**
   * For an episode that differs from its replay, or that has a text with a lone surrogate: its whole line, without the line
   * end. The other fields have the same values, with U+FFFD in place of lone surrogates.
   */
  readonly line?: string;
}

/**
 * Returns an episode in compact form. Use it for episodes that this process played. For episodes of files use
 * `EpisodeReplayer.toCompact`, which keeps the line of an episode that differs from its replay.
 */
export function toCompact(episode: TrajectoryEpisode): CompactEpisode {
  const { version, world_digest, teacher, model, objective, oracle, steps, usage, sampling } = episode;
  const { condition, profile_mode, seed, grader, final } = episode;
  const completions = steps.map(({ completion }) => completion);
  const reasoning = steps.map(separateReasoning);
  return withDecimals({
    ...{ version, world_digest, teacher, model, objective, oracle, condition, profile_mode, seed, grader },
    actions: steps.map(({ action }) => action),
    beliefs: steps.map(({ belief }) => belief),
    parsed: steps.map(({ parsed }) => parsed),
    completions: unlessEmpty(completions.map(wellFormed)),
    reasoning: unlessEmpty(reasoning.map(wellFormed)),
    final,
    ...(usage && { usage }),
    ...(sampling && { sampling }),
    ...([...completions, ...reasoning].some(isIllFormed) && { line: lineOf(episode) }),
  });
}

/** Returns the line of an episode without its line end, for `CompactEpisode.line`. */
export const lineOf = (episode: TrajectoryEpisode): string => episodeLine(episode).trimEnd();

/** Returns an episode with its float32 numbers as their shortest decimals. */
export const withDecimals = (compact: CompactEpisode): CompactEpisode => ({
  ...compact,
  beliefs: compact.beliefs.map((belief) => belief && (float32Decimals(belief) as unknown as StoredBelief)),
  final: decimalsByName(compact.final) as StoredFinal,
});

/** Returns the reasoning of a step; null if its completion contains it. */
const separateReasoning = ({ completion, reasoning }: TrajectoryStep): string | null =>
  completion !== null && reasoningIn(completion) !== null ? null : reasoning;

/** Returns whether a text has a lone surrogate, which UTF-8 cannot encode. */
const isIllFormed = (text: string | null): boolean => text !== null && LONE_SURROGATE.test(text);

/** Returns a text with U+FFFD in place of lone surrogates. */
const wellFormed = (text: string | null): string | null =>
  isIllFormed(text) ? text!.replace(new RegExp(LONE_SURROGATE, 'gu'), '\uFFFD') : text;

/** Returns the texts; null if all are null. */
const unlessEmpty = (texts: readonly (string | null)[]): readonly (string | null)[] | null =>
  texts.every((text) => text === null) ? null : texts;

const EXPECTED = `a list of ${NUM_STEPS} entries, one per step`;

/** A schema of lists with an entry per step. */
const perStep = <Entry extends Parameters<typeof list>[0]>(entry: Entry) =>
  list(entry, EXPECTED).length(NUM_STEPS, {
    error: ({ input }) => `Expected ${EXPECTED}, got ${(input as unknown[]).length}.`,
  });

const texts = perStep(textOrNull).nullable();

const COMPACT = object({
  ...FIRST,
  actions: perStep(oneOf(ACTION_NAMES)),
  beliefs: perStep(belief),
  parsed: perStep(flag),
  completions: texts,
  reasoning: texts,
  final: FINAL,
  ...OPTIONAL,
  line: text('a text').optional(),
});

/**
 * Returns a value of a file or store as a compact episode. Checks types and ranges; only a replay can verify the numbers.
 * @throws BadEpisode with what was expected and what came. The world is checked first.
 */
export function parseCompact(value: unknown): CompactEpisode {
  return withEpisodeFaults(() => {
    const { world_digest } = Object(value);
    checkWorld(world_digest);
    const { version, ...fields } = conform(COMPACT, value);
    const parsed = { version, world_digest, ...fields, grader: graderOf(fields) };
    checkCondition(parsed);
    const compact = withDecimals(parsed as unknown as CompactEpisode);
    if (compact.line !== undefined) checkLine(compact, compact.line);
    return compact;
  });
}

/** Checks that the other fields repeat the line, so that tools that read only those fields find the same episode. */
function checkLine({ line: _, ...fields }: CompactEpisode, line: string): void {
  const { line: __, ...expected } = toCompact(parseEpisode(line));
  if (JSON.stringify(fields) === JSON.stringify(expected)) return;
  throw new BadEpisode(
    'corrupt',
    'line: Expected the episode of the other fields, got another one. Change the fields and the line alike.',
  );
}
