/** Texts without secrets: nothing that a service sends back is shown or written before it has been through here. */

export type Redact = (text: string) => string;

/** A shorter one is none, and would take other words apart. */
const MIN_LENGTH = 4;
/** Words that servers without keys tell people to pass for one: taken out of answers, they would spoil these. */
const PLACEHOLDERS = new Set('none null empty dummy test token local ollama unused placeholder'.split(' '));
/** In base64 at any offset, less would be any letters. */
const MIN_EMBEDDED = 8;

/**
 * @param secrets in any order; what is shorter than four characters, or a placeholder, is no secret.
 * @param instead what stands where one stood.
 */
export function redactor(secrets: readonly string[], instead = '[redacted]'): Redact {
  const known = secrets.filter(isSecret);
  const spellings = [...new Set(known.flatMap(spellingsOf))];
  // The longest first: one secret may begin another.
  spellings.sort((a, b) => b.length - a.length);
  return (text) => spellings.reduce((left, spelling) => left.replaceAll(spelling, instead), text);
}

const isSecret = (text: string): boolean =>
  text.length >= MIN_LENGTH && !PLACEHOLDERS.has(text.toLowerCase());

/** As headers, URLs and JSON hold it, and as a server may spell it. */
function spellingsOf(secret: string): string[] {
  const inUrl = encodeURIComponent(secret);
  const inJson = JSON.stringify(secret).slice(1, -1);
  return [
    ...[secret, inUrl, inUrl.replaceAll(/%../g, (code) => code.toLowerCase())],
    ...[inJson, inJson.replaceAll('/', '\\/')],
    ...packed(Buffer.from(secret)),
  ];
}

function packed(bytes: Buffer): string[] {
  const base64 = bytes.toString('base64');
  const whole = [base64, base64.replace(/=+$/, ''), bytes.toString('base64url'), bytes.toString('hex')];
  return bytes.length < MIN_EMBEDDED ? whole : [...whole, ...embedded(bytes)];
}

/** What a longer text's base64, "Bearer KEY"'s for instance, has of nobody but these bytes: it stands at one of three offsets. */
function embedded(bytes: Buffer): string[] {
  return [0, 1, 2].flatMap((offset) => {
    const around = Buffer.concat([Buffer.alloc(offset), bytes]);
    const [from, to] = [Math.ceil((offset * 4) / 3), Math.floor((around.length * 4) / 3)];
    return [around.toString('base64').slice(from, to), around.toString('base64url').slice(from, to)];
  });
}
