/** `--grader`: a name, or a file. */
import { readFileSync } from 'node:fs';
import { InputError } from '../errors.js';
import { type Grader, toGrader } from '../graders/grader.js';
import { parseGrader } from '../graders/parse.js';
import { didYouMean } from '../suggest.js';
import { describe } from '../validate/values.js';
import { GRADER_NAMES } from '../world/fields.js';
import { UsageError } from './failure.js';
import { stat } from './output-file.js';
import { decodeUtf8, withoutMark } from './utf8.js';

/** Hundreds of times a grader. */
const MAX_BYTES = 65536;

/**
 * The grader that `--grader` names: a built-in one by its name, else a file (`./v1` for one that is called so).
 * @throws UsageError for neither; InputError `bad_grader` that names the file and the field.
 */
export function readGrader(choice: string): Grader {
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
  return parseGrader(readText(choice, file.size), choice);
}

function readText(path: string, size: number): string {
  if (size > MAX_BYTES) refuse(path, `at most ${MAX_BYTES} bytes`, String(size));
  const text = decodeUtf8(readFileSync(path));
  return text === null ? refuse(path, 'UTF-8', 'bytes that are none') : withoutMark(text);
}

function refuse(path: string, expected: string, got: string): never {
  throw new InputError('bad_grader', `Expected ${expected} in ${path}, got ${got}. Pass a grader's file.`);
}
