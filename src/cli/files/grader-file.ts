/** Reads the grader of `--grader`: a built-in name, or a file. */
import { type Grader, toGrader } from '../../engine/graders/grader.js';
import { parseGrader } from '../../engine/graders/parse-grader.js';
import { InputError } from '../../shared/errors.js';
import { didYouMean } from '../../shared/names.js';
import { describe } from '../../shared/values.js';
import { GRADER_NAMES } from '../../world/fields.js';
import { UsageError } from '../command-errors.js';
import { checkHead, KINDS } from './file-kind.js';
import { checkDifferentFile, readStart } from './input-file.js';
import { decodeUtf8, withoutMark } from './lines.js';
import { stat } from './paths.js';

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
  const bytes = await readStart(choice, MAX_BYTES);
  checkHead(bytes, { option: '--grader', name: choice, kinds: [KINDS.grader] });
  if (bytes.length > MAX_BYTES) refuse(choice, `at most ${MAX_BYTES} bytes`, 'more bytes');
  const text = decodeUtf8(bytes) ?? refuse(choice, 'UTF-8', 'other bytes');
  return parseGrader(withoutMark(text), choice);
}

function refuse(path: string, expected: string, got: string): never {
  throw new InputError('bad_grader', {
    expected: `${expected} in ${path}`,
    got,
    remedy: "Pass a grader's file.",
  });
}

/** Refuses an output path that is the grader's file. @throws UsageError. */
export function checkNotGrader(option: string, path: string | undefined, choice: string | undefined): void {
  if (path === undefined || choice === undefined || GRADER_NAMES.includes(choice)) return;
  checkDifferentFile(option, path, '--grader', choice);
}
