/** Texts without secrets: nothing that an endpoint sends back is written anywhere before it has been through here. */

export type Redact = (text: string) => string;

/** A shorter one is none, and would take other words apart. */
const MIN_LENGTH = 4;
const INSTEAD = '[redacted]';

/** @param secrets in any order; what is shorter than four characters is no secret. */
export function redactor(secrets: readonly string[]): Redact {
  const known = secrets.filter((secret) => secret.length >= MIN_LENGTH);
  const spellings = [...new Set(known.flatMap(spellingsOf))];
  // The longest first: one secret may begin another.
  spellings.sort((a, b) => b.length - a.length);
  return (text) => spellings.reduce((left, spelling) => left.replaceAll(spelling, INSTEAD), text);
}

/** As headers, URLs and JSON hold it. */
const spellingsOf = (secret: string): string[] => [
  secret,
  encodeURIComponent(secret),
  Buffer.from(secret).toString('base64'),
  JSON.stringify(secret).slice(1, -1),
];
