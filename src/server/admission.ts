/** Who may ask at all: a token where there is one, and no pages of other sites. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { isLoopback } from './options.js';

/** Why a request is turned away. */
export interface TurnedAway {
  readonly status: 401 | 403;
  readonly detail: string;
}

/** The headers that decide. */
export interface Credentials {
  readonly authorization?: string;
  readonly origin?: string;
}

export type Admit = (credentials: Credentials) => TurnedAway | null;

const NO_TOKEN: TurnedAway = {
  status: 401,
  detail: 'Expected the header "Authorization: Bearer TOKEN", got none. Send the server\'s token.',
};
const OTHER_TOKEN: TurnedAway = {
  status: 401,
  detail:
    'Expected the server\'s token in "Authorization: Bearer TOKEN", got another. Send the server\'s token.',
};
const OTHER_SITE: TurnedAway = {
  status: 403,
  detail:
    "Expected no request of another site's page, got one by its Origin. Start the server with a token for that.",
};

/**
 * @param token if there is one, it is asked for, and enough: no page can send it unless it was told. Without one a page
 *   of any site that somebody of this machine looks at could ask; its browser says so in `Origin`.
 */
export function admission(token: string | undefined): Admit {
  if (token === undefined) return ({ origin }) => (origin === undefined || isOwn(origin) ? null : OTHER_SITE);
  const expected = digestOf(token);
  return ({ authorization }) => {
    const sent = /^Bearer +([\x21-\x7e]+) *$/i.exec(authorization ?? '')?.[1];
    if (sent === undefined) return NO_TOKEN;
    // Digests are of one length: neither that nor the first difference shows in the time it takes.
    return timingSafeEqual(digestOf(sent), expected) ? null : OTHER_TOKEN;
  };
}

const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest();

function isOwn(origin: string): boolean {
  return URL.canParse(origin) && isLoopback(new URL(origin).hostname);
}
