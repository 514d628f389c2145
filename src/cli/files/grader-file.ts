/** Reads the grader of `--grader`: a built-in name, or a file. */
import { open } from 'node:fs/promises';
import { type Grader, toGrader } from '../../engine/graders/grader.js';
import { parseGrader } from '../../engine/graders/parse-grader.js';
import { InputError } from '../../shared/errors.js';
import { didYouMean } from '../../shared/names.js';
import { describe } from '../../shared/values.js';
import { GRADER_NAMES } from '../../world/fields.js';
import { UsageError } from '../command-errors.js';
import { checkHead, KINDS } from './file-kind.js';
import { checkDifferentFile } from './input-file.js';
import { stat } from './paths.js';
import { decodeUtf8, withoutMark } from './utf8.js';

/** The maximum size of a grader file in bytes: hundreds of times the usual size. */
const MAX_BYTES = 65536;

/**
 * Returns the grader of `--grader`: a built-in name, or else a file. A file with the name v1 is passed as `./v1`.
 * @throws UsageError; InputError `bad_grader`.
 */
export async function readGrader(choice: string): Promise<Grader> {
  if (GRADER_NAMES.includes(choice)) return toGrader(choice);
  const file = stat(choice);
  if (file === null) {
    throw new UsageError(
      `Expected --grader to be one of ${GRADER_NAMES.join(', ')} or a file, got ${describe(choice)}; ` +
        `there is no such file.${didYouMean(choice, GRADER_NAMES, ' Check the path.')}`,
    );
  }
  if (file.isDirectory()) {
    throw new UsageError(
      `Expected --grader to name a file, got ${choice}; it is a directory. Check the path.`,
    );
  }
  return parseGrader(await readText(choice), choice);
}

/** Refuses an output path that is the grader's file. @throws UsageError. */
export function checkNotGrader(option: string, path: string | undefined, choice: string | undefined): void {
  if (path === undefined || choice === undefined || GRADER_NAMES.includes(choice)) return;
  checkDifferentFile(option, path, '--grader', choice);
}

/**
 * Reads a file of at most MAX_BYTES. The limit guards against device files such as /dev/zero, which never end. Reading is
 * asynchronous, so that signals work while a pipe has no writer.
 */
async function readText(path: string): Promise<string> {
  // Closed by hand: under Yarn's Plug'n'Play a handle cannot be disposed of by `await using`.
  const handle = await open(path);
  const bytes = new Uint8Array(MAX_BYTES + 1);
  let length = 0;
  try {
    while (length < bytes.length) {
      const { bytesRead } = await handle.read(bytes, length, bytes.length - length);
      if (bytesRead === 0) break;
      length += bytesRead;
    }
  } finally {
    await handle.close();
  }
  checkHead(bytes.subarray(0, length), { option: '--grader', name: path, kinds: [KINDS.grader] });
  if (length > MAX_BYTES) refuse(path, `at most ${MAX_BYTES} bytes`, 'more bytes');
  const text = decodeUtf8(bytes.subarray(0, length));
  return text === null ? refuse(path, 'UTF-8', 'other bytes') : withoutMark(text);
}

function refuse(path: string, expected: string, got: string): never {
  throw new InputError('bad_grader', `Expected ${expected} in ${path}, got ${got}. Pass a grader's file.`);
}
