/** The lines of a journal (journal.ts): episodes, answers, and the amount spent on language models. */
import type { FileHandle } from 'node:fs/promises';
import { ANSWER_HEAD } from '../../agents/llm/stored-answers.js';
import type { LineSpan } from '../../shared/line-spans.js';
import { SCHEMAS } from '../../shared/schemas.js';
import { UsageError } from '../command-errors.js';

/** The file of an episode's line, and the line's place in it. */
export interface Entry extends LineSpan {
  readonly handle: FileHandle;
}

/** The beginnings of the lines of episodes, up to the schema's name, of answers, and of the amount spent. */
const EPISODE_HEAD = JSON.stringify({ schema: { name: SCHEMAS.trajectory.name } }).slice(0, -2);
export const SPENT_HEAD = '{"spent_usd":';
const HEADS = [EPISODE_HEAD, ANSWER_HEAD, SPENT_HEAD];

/** Returns whether a text can be the beginning of a journal's line. It ignores zero bytes at the end, left by a crash. */
export function isBeginning(text: string): boolean {
  const written = text.replace(/\0+$/, '');
  return HEADS.some((head) => written.startsWith(head) || head.startsWith(written));
}

/** Returns whether a line has an answer or the amount spent, which only journals have. */
export const isOfJournalAlone = (line: string | null): boolean =>
  line?.startsWith(ANSWER_HEAD) === true || line?.startsWith(SPENT_HEAD) === true;

/** Returns whether a line that has no line end is complete. */
export function isWhole(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Returns the line of an amount in dollars. */
export const spentLine = (dollars: number): string => `${JSON.stringify({ spent_usd: dollars })}\n`;

/** Returns the amount in a line. @throws UsageError for a line with another text. */
export function spentIn(line: string, place: string): number {
  const amount = /^\{"spent_usd":([\d.e+-]+)\}$/.exec(line)?.[1];
  if (amount !== undefined && Number.isFinite(Number(amount))) return Number(amount);
  throw new UsageError(
    `Expected ${place} to hold the amount spent, got something else. Write {"spent_usd":0} there, with the right amount instead of 0.`,
  );
}

/** Reads the bytes of an episode's line. @throws UsageError if another process has shortened the file. */
export async function bytesOf({ handle, start, end }: Entry): Promise<Buffer> {
  const bytes = Buffer.alloc(end - start);
  for (let done = 0; done < bytes.length; ) {
    const { bytesRead } = await handle.read(bytes, done, bytes.length - done, start + done);
    if (bytesRead === 0)
      throw new UsageError(
        'Expected the output to stay unchanged, but another process shortened it. Try again.',
      );
    done += bytesRead;
  }
  return bytes;
}
