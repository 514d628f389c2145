/** Replaces secrets in texts from services before the texts are shown or written. */

/** Returns a text with its secrets replaced. */
export type Redact = (text: string) => string;

/** Shorter values are not redacted: they also occur within other words. */
const MIN_LENGTH = 4;
/** Common values for servers that need no key. They are not redacted, because they are ordinary words. */
const PLACEHOLDERS = new Set('none null empty dummy test token local ollama unused placeholder'.split(' '));
/** Matches characters without width, such as U+200B, which a server may put between those of a key. */
const INVISIBLE = '[\\p{Cf}\\p{Mn}\\p{DI}]*';

/**
 * Returns a function that replaces secrets in texts. It finds a secret as it stands, and as URLs and JSON encode it: in any case
 * of the letters, and with characters of no width between its characters. It finds no other encodings and disguises, such as
 * base64, full-width letters, spaces in between, reversal.
 * @param secrets in any order. Values shorter than four characters and placeholders are ignored.
 */
export function redactor(secrets: readonly string[], replacement = '[redacted]'): Redact {
  const spellings = [...new Set(secrets.filter(isSecret).flatMap(spellingsOf))];
  // The longest first: one secret may be the beginning of another.
  spellings.sort((a, b) => b.length - a.length);
  const patterns = spellings.map(patternOf);
  return (text) => patterns.reduce((rest, pattern) => rest.replace(pattern, () => replacement), text);
}

const isSecret = (text: string): boolean =>
  text.length >= MIN_LENGTH && !PLACEHOLDERS.has(text.toLowerCase());

/** Returns the secret, and the secret as URLs and JSON encode it. */
function spellingsOf(secret: string): string[] {
  const inJson = JSON.stringify(secret).slice(1, -1);
  return [secret, encodeURIComponent(secret), inJson, inJson.replaceAll('/', '\\/')];
}

const patternOf = (spelling: string): RegExp =>
  new RegExp(
    Array.from(spelling, (character) => character.replace(/[\\^$.*+?()[\]{}|/]/, '\\$&')).join(INVISIBLE),
    'giu',
  );
