/** Reads stored components from a stream of bytes. An invalid line is an error. */
import type { StoredCondition } from '../../evaluation/regrade-stored.js';
import { BadRow } from '../../shared/row-schemas.js';
import { UsageError } from '../command-errors.js';
import { printable, readLines } from '../files/lines.js';
import { StoredEpisodes } from '../regrade/stored-episodes.js';
import { ComponentsParser } from './component-row.js';

/** The maximum length of a line in bytes: about ten times the length of a line that eval writes. */
const MAX_LINE_BYTES = 4096;

/**
 * Returns the stored conditions of a stream.
 * @param name the input's name in errors. @throws UsageError that names the input and the line.
 */
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
    throw new BadRow('Expected episodes, got none. Pass a file that eval --components wrote.');
  } catch (error) {
    throw error instanceof BadRow ? new UsageError(`${place}: ${printable(error.message)}`) : error;
  }
}
