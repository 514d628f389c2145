/** Replaces secrets in texts from services before the texts are shown or written. */
import {
  type DroppedCharacters,
  folded,
  INVISIBLE,
  INVISIBLE_OR_SPACE,
  replaceFolded,
} from './text-folding.js';

/** Returns a text with its secrets replaced. */
export type Redact = (text: string) => string;

/** Shorter values are not redacted: they also occur within other words. */
const MIN_LENGTH = 4;
/** Common values for servers that need no key. They are not redacted, because they are ordinary words. */
const PLACEHOLDERS = new Set('none null empty dummy test token local ollama unused placeholder'.split(' '));
/** Shorter byte sequences occur by chance inside longer base64 texts. */
const MIN_EMBEDDED = 8;
/** Shorter sequences of letters occur by chance in sentences once white space is ignored. */
const MIN_SPACED = 8;

/**
 * Returns a function that replaces secrets in texts.
 *
 * The function finds a secret as plain text, and as URLs, JSON, base64 and hexadecimal encode it. It also finds each
 * of these forms in full-width or accented letters, in escapes of JSON or URLs, and with zero-width characters. It finds forms
 * of eight characters or more with white space between the characters. It does not find other disguises: look-alike letters of
 * other alphabets, other characters in between, reversal, encryption.
 * @param secrets in any order. Values shorter than four characters and placeholders are ignored.
 */
export function redactor(secrets: readonly string[], replacement = '[redacted]'): Redact {
  const usable = secrets.filter(isSecret);
  const spellings = [...new Set(usable.flatMap(spellingsOf))];
  // The longest first: one secret may be the beginning of another.
  spellings.sort((a, b) => b.length - a.length);
  const disguised = foldedSecrets(spellings, INVISIBLE, MIN_LENGTH);
  const spaced = foldedSecrets(spellings, INVISIBLE_OR_SPACE, MIN_SPACED);
  return (text) => {
    const withoutExact = spellings.reduce((rest, spelling) => rest.replaceAll(spelling, replacement), text);
    const withoutDisguised = replaceFolded(withoutExact, disguised, replacement, INVISIBLE);
    return replaceFolded(withoutDisguised, spaced, replacement, INVISIBLE_OR_SPACE);
  };
}

/** Folds the secrets (text-folding.ts), and drops those that become too short or a placeholder. */
const foldedSecrets = (
  spellings: readonly string[],
  dropped: DroppedCharacters,
  minLength: number,
): string[] => [
  ...new Set(
    spellings
      .map((spelling) => folded(spelling, dropped))
      .filter((spelling) => spelling.length >= minLength && isSecret(spelling)),
  ),
];

const isSecret = (text: string): boolean =>
  text.length >= MIN_LENGTH && !PLACEHOLDERS.has(text.toLowerCase());

/** Returns the secret, the secret as URLs and JSON encode it, and its base64 and hexadecimal texts. */
function spellingsOf(secret: string): string[] {
  const inUrl = encodeURIComponent(secret);
  const inJson = JSON.stringify(secret).slice(1, -1);
  return [
    ...[secret, inUrl, inUrl.replaceAll(/%../g, (code) => code.toLowerCase())],
    ...[inJson, inJson.replaceAll('/', '\\/')],
    ...encodingsOf(Buffer.from(secret)),
  ];
}

/**
 * Returns the base64 and hexadecimal texts of the bytes, and for MIN_EMBEDDED bytes or more also their characters within a
 * longer base64 text.
 */
function encodingsOf(bytes: Buffer): string[] {
  const base64 = bytes.toString('base64');
  const hex = bytes.toString('hex');
  const whole = [base64, base64.replace(/=+$/, ''), bytes.toString('base64url'), hex, hex.toUpperCase()];
  return bytes.length < MIN_EMBEDDED ? whole : [...whole, ...embedded(bytes)];
}

/**
 * Returns the base64 characters of these bytes within a longer text, such as "Bearer KEY": for each of the three possible
 * offsets, the characters that depend on these bytes alone.
 */
function embedded(bytes: Buffer): string[] {
  return [0, 1, 2].flatMap((offset) => {
    const around = Buffer.concat([Buffer.alloc(offset), bytes]);
    const [from, to] = [Math.ceil((offset * 4) / 3), Math.floor((around.length * 4) / 3)];
    return [around.toString('base64').slice(from, to), around.toString('base64url').slice(from, to)];
  });
}
