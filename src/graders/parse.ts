/** A grader from the text of its file. */
import { iterator, type MemberNode, type ObjectNode, parse } from '@humanwhocodes/momoa';
import { InputError } from '../errors.js';
import { describe } from '../validate/values.js';
import { type Grader, validateGrader } from './grader.js';

const EXAMPLE = '{"name": "calm", "weights": {"crash_free": 0.5, "efficiency": 0.5}}';

/**
 * Reads a grader's JSON: `{"name": "calm", "weights": {"crash_free": 0.5, "efficiency": 0.5}}`. Components that are left
 * out weigh 0. `schema` may say what it is: `{"name": "rhythm-vec/grader", "version": 1}`.
 * @param where what an error calls the text: its file's name. @returns a frozen grader, with all six weights.
 * @throws InputError `bad_grader` that names the field: for text that is no JSON, a key that is unknown or there twice,
 *   a name or a weight that is none, weights that do not sum to 1.
 */
export function parseGrader(text: string, where = 'grader'): Grader {
  if (text.trim() === '') refuseText('a text that is empty', where);
  const { value, repeated } = fromJson(text, where);
  if (repeated !== null) refuseRepeated(repeated, where);
  return validateGrader(value, where);
}

function fromJson(text: string, where: string): { value: unknown; repeated: MemberNode | null } {
  try {
    // Parsed twice: the first parser has the better messages, the second sees keys that are there twice.
    return { value: JSON.parse(text), repeated: repeatedKey(text) };
  } catch (error) {
    return refuseText(`text that is none: ${(error as Error).message}`, where);
  }
}

/** The first key that its object has had before; `JSON.parse` would let the last one win in silence. */
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
