/** Parses the JSON file of a grader. */
import { iterator, type MemberNode, type ObjectNode, parse } from '@humanwhocodes/momoa';
import { InputError } from '../../shared/errors.js';
import { describe } from '../../shared/values.js';
import { type Grader, validateGrader } from './grader.js';

const EXAMPLE = '{"name": "calm", "weights": {"crash_free": 0.5, "efficiency": 0.5}}';

/**
 * Parses a grader's JSON: `{"name": "calm", "weights": {"crash_free": 0.5, "efficiency": 0.5}}`. The default weight is
 * 0. `schema` is optional: `{"name": "rhythm-vec/grader", "version": 1}`.
 * @param where the text's name in errors, such as a file's. @returns a frozen grader, with all six weights.
 * @throws InputError `bad_grader` that names the field: for invalid JSON, an unknown or repeated key, an invalid name or
 *   weight, and weights that do not sum to 1.
 */
export function parseGrader(text: string, where = 'grader'): Grader {
  if (text.trim() === '') refuseText('an empty text', where);
  const { value, repeated } = fromJson(text, where);
  if (repeated !== null) refuseRepeated(repeated, where);
  return validateGrader(value, where);
}

function fromJson(text: string, where: string): { value: unknown; repeated: MemberNode | null } {
  try {
    // Parsed twice: the first parser has better messages, the second reports repeated keys.
    return { value: JSON.parse(text), repeated: repeatedKey(text) };
  } catch (error) {
    return refuseText(`invalid JSON: ${(error as Error).message}`, where);
  }
}

/** Returns the first repeated key of any object. `JSON.parse` silently keeps the last value. */
function repeatedKey(text: string): MemberNode | null {
  for (const { node, phase } of iterator(parse(text))) {
    if (node.type !== 'Object' || phase !== 'enter') continue;
    const { members } = node as ObjectNode;
    const names = members.map(keyOf);
    const repeated = members.find((_, i) => names.indexOf(names[i]) < i);
    if (repeated !== undefined) return repeated;
  }
  return null;
}

const keyOf = ({ name }: MemberNode): string => (name.type === 'String' ? name.value : name.name);

function refuseText(got: string, where: string): never {
  throw new InputError('bad_grader', `Expected JSON in ${where}, got ${got}. Pass ${EXAMPLE}, for instance.`);
}

function refuseRepeated(member: MemberNode, where: string): never {
  throw new InputError(
    'bad_grader',
    `Expected each key once in ${where}, got ${describe(keyOf(member))} again in line ${member.loc.start.line}. ` +
      'Remove one of them.',
  );
}
