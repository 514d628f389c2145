/** Parses the JSON file of a grader. */
import { InputError } from '../../shared/errors.js';
import { describe, wrongType } from '../../shared/values.js';
import { type Grader, validateGrader } from './grader.js';

const EXAMPLE = '{"name": "calm", "weights": {"crash_free": 0.5, "efficiency": 0.5}}';

/**
 * Parses a grader's JSON: `{"name": "calm", "weights": {"crash_free": 0.5, "efficiency": 0.5}}`. A missing
 * weight is 0. `schema` is optional: `{"name": "rhythm-vec/grader", "version": 1}`.
 * @param where the text's name in errors, such as a file's. @returns a frozen grader, with all eight weights.
 * @throws InputError `wrong_type` for a value that is not a string; `bad_grader` for invalid JSON, another schema, an unknown or repeated key, an invalid name or weight, a
 *   built-in grader's name with other weights, and weights that do not sum to 1.
 */
export function parseGrader(text: string, where = 'grader'): Grader {
  if (typeof text !== 'string')
    throw wrongType(where, "the text of a grader's JSON", text, 'Pass a grader itself in place of its text.');
  if (text.trim() === '') refuseText('an empty text', where);
  const value = fromJson(text, where);
  refuseRepeatedKeys(text, where);
  return validateGrader(value, where);
}

function fromJson(text: string, where: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    return refuseText(`invalid JSON: ${(error as Error).message}`, where);
  }
}

/** Matches a brace, or a string; a key is matched with its colon. */
const KEYS_AND_BRACES = /("(?:[^"\\]+|\\.)*")(\s*:)?|[{}]/g;

/** Refuses a key that an object repeats. `JSON.parse` silently keeps the last value. @param text valid JSON. */
function refuseRepeatedKeys(text: string, where: string): void {
  const objects: Set<string>[] = [];
  for (const { 0: token, 1: string, 2: colon, index } of text.matchAll(KEYS_AND_BRACES)) {
    if (token === '{') objects.push(new Set());
    else if (token === '}') objects.pop();
    if (colon === undefined) continue;
    const keys = objects[objects.length - 1];
    const key: string = JSON.parse(string);
    if (keys.has(key)) refuseRepeated(key, text.slice(0, index).split('\n').length, where);
    keys.add(key);
  }
}

function refuseText(got: string, where: string): never {
  throw new InputError('bad_grader', {
    expected: `JSON in ${where}`,
    got,
    remedy: `Pass ${EXAMPLE}, for instance.`,
  });
}

function refuseRepeated(key: string, line: number, where: string): never {
  throw new InputError('bad_grader', {
    expected: `each key once in ${where}`,
    got: `${describe(key)} again in line ${line}`,
    remedy: 'Remove one of the two.',
  });
}
