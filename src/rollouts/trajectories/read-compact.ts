/** Validates compact episodes (compact-episode.ts) that were read from files or from Redis. */
import { conform, flag, list, object, oneOf, text } from '../../shared/row-schemas.js';
import { ACTION_NAMES, NUM_STEPS } from '../../world/fields.js';
import { type CompactEpisode, toCompact, withDecimals } from './compact-episode.js';
import { belief, FINAL, FIRST, OPTIONAL, textOrNull } from './episode-fields.js';
import {
  BadEpisode,
  checkCondition,
  checkWorld,
  graderOf,
  parseEpisode,
  withEpisodeFaults,
} from './read-line.js';

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
