/** Divides the rows of a Parquet file into row groups. The division depends on the rows alone, not on when they arrive. */
import type { CompactEpisode } from './compact-episode.js';

/**
 * The maximum number of rows of the first group: few, so that the group is written early. The maximum doubles with each
 * group, up to MAX_ROWS. The constants of this file are chosen by hand: larger groups need more memory, and a killed
 * run loses more episodes.
 */
const FIRST_ROWS = 64;
const MAX_ROWS = 1024;
/** A group with this many characters of text is complete. */
const MAX_CHARACTERS = 2 ** 23;

/** Collects episodes in row groups. */
export class RowGroups {
  #rows: CompactEpisode[] = [];
  #characters = 0;
  #capacity = FIRST_ROWS;

  /** Adds an episode. Returns the rows of its group if the episode completes the group; else null. */
  add(episode: CompactEpisode): CompactEpisode[] | null {
    this.#rows.push(episode);
    this.#characters += charactersOf(episode);
    if (this.#rows.length < this.#capacity && this.#characters < MAX_CHARACTERS) return null;
    this.#capacity = Math.min(MAX_ROWS, 2 * this.#capacity);
    return this.rest();
  }

  /** Returns the rows of the unfinished group, and begins another group. */
  rest(): CompactEpisode[] {
    const rows = this.#rows;
    this.#rows = [];
    this.#characters = 0;
    return rows;
  }
}

function charactersOf({ completions, reasoning, line }: CompactEpisode): number {
  const texts = [...(completions ?? []), ...(reasoning ?? []), line ?? null];
  return texts.reduce((sum, text) => sum + (text?.length ?? 0), 0);
}
