/** Stored components from a stream of bytes: all of them, or the line that is wrong. */
import type { StoredCondition } from '../../evaluate/regraded.js';
import { BadRow } from '../../validate/rows.js';
import { UsageError } from '../failure.js';
import { printable, readLines } from '../files/lines.js';
import { StoredEpisodes } from '../regrade/stored-episodes.js';
import { ComponentsParser } from './row.js';

/** Ten times a line of ours. */
const MAX_LINE_BYTES = 4096;

/** @param name what errors call the input. @throws UsageError that names it and the line. */
export async function readComponents(
  input: AsyncIterable<Uint8Array>,
  name: string,
): Promise<StoredCondition[]> {
  const parser = new ComponentsParser();
  const episodes = new StoredEpisodes();
  let place = name;
  try {
    for await (const { number, text, problem } of readLines(input, MAX_LINE_BYTES)) {
      place = `${name}:${number}`;
      if (text === null) throw new BadRow(problem);
      const row = text.trim() === '' ? null : parser.parse(text);
      if (row !== null) episodes.add(row);
    }
    const stored = episodes.conditions();
    if (stored.length > 0) return stored;
    throw new BadRow('Expected episodes, got none. Use what eval --components writes.');
  } catch (error) {
    throw error instanceof BadRow ? new UsageError(`${place}: ${printable(error.message)}`) : error;
  }
}
