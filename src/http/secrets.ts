/** Texts without secrets: nothing that a service sends back is shown or written before it has been through here. */

export type Redact = (text: string) => string;

/** A shorter one is none, and would take other words apart. */
const MIN_LENGTH = 4;

/**
 * @param secrets in any order; what is shorter than four characters is no secret.
 * @param instead what stands where one stood.
 */
export function redactor(secrets: readonly string[], instead = '[redacted]'): Redact {
  const known = secrets.filter((secret) => secret.length >= MIN_LENGTH);
  const spellings = [...new Set(known.flatMap(spellingsOf))];
  // The longest first: one secret may begin another.
  spellings.sort((a, b) => b.length - a.length);
  return (text) => spellings.reduce((left, spelling) => left.replaceAll(spelling, instead), text);
}

/** As headers, URLs and JSON hold it, and as a server may spell it. */
function spellingsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const base64 = bytes.toString('base64');
  return [
    secret,
    encodeURIComponent(secret),
    JSON.stringify(secret).slice(1, -1),
    ...[base64, base64.replace(/=+$/, ''), bytes.toString('base64url')],
    bytes.toString('hex'),
  ];
}
