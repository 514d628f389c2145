/** Compact episodes: what a replay cannot compute, and the results. `EpisodeReplayer` computes the rest. */
import { float32Decimals } from '../../shared/float32-decimal.js';
import { reasoningIn } from './move.js';
import type {
  Player,
  Sampling,
  StoredBelief,
  StoredFinal,
  TrajectoryEpisode,
  TrajectoryStep,
  Usage,
} from './trajectory-episode.js';
import { LONE_SURROGATE } from './usable-answer.js';
import { decimalsByName, episodeLine } from './write-line.js';

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
