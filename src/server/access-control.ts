/**
 * Access control. A server with a token admits requests with this token. A server without a token refuses requests that web
 * pages of other sites send.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { describe } from '../shared/values.js';
import { isLoopback, type Settings } from './server-options.js';

/** The response to a request without access. */
export interface Rejection {
  readonly status: 401 | 403;
  readonly detail: string;
}

/** Checks the head of a request. @returns null for a request with access. */
export type AccessCheck = (request: IncomingMessage) => Rejection | null;

const NO_TOKEN: Rejection = {
  status: 401,
  detail: 'Expected the header "Authorization: Bearer TOKEN", got none. Send the server\'s token.',
};
const OTHER_TOKEN: Rejection = {
  status: 401,
  detail:
    'Expected the server\'s token in "Authorization: Bearer TOKEN", got another token. Send the server\'s token.',
};

/**
 * Returns the access check of a server.
 *
 * With a token, only the token is checked, because web pages do not know it. Without a token, any web page that is open
 * in a browser on this machine could send requests. Two headers, which pages cannot forge, reveal such requests. `Origin`
 * names the page's site. `Host` names the server: a page whose own name resolves to this machine (DNS rebinding) sends that
 * name, which is not a loopback name.
 * @param settings `insecure` admits any `Host`, because the server does not know its own public names.
 */
export function accessCheck({ token, insecure }: Pick<Settings, 'token' | 'insecure'>): AccessCheck {
  if (token !== undefined) return tokenCheck(token);
  return (request) => (insecure ? null : checkHost(request)) ?? checkOrigin(request);
}

function tokenCheck(token: string): AccessCheck {
  const expected = digestOf(token);
  return ({ headers }) => {
    const sent = /^Bearer +([\x21-\x7e]+) *$/i.exec(headers.authorization ?? '')?.[1];
    if (sent === undefined) return NO_TOKEN;
    // Digests have equal lengths, so the time of the comparison reveals nothing about the token.
    return timingSafeEqual(digestOf(sent), expected) ? null : OTHER_TOKEN;
  };
}

const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest();

function checkHost({ headersDistinct, url = '' }: IncomingMessage): Rejection | null {
  // An absolute target (`GET http://name/path`) also names the server.
  const [, target] = /^https?:\/\/([^/?#]*)/i.exec(url) ?? [];
  const names = [...(headersDistinct.host ?? ['']), ...(target === undefined ? [] : [target])];
  const other = names.find((name) => !/^[^\s/?#@\\]+$/.test(name) || !isLoopbackUrl(`http://${name}`));
  if (other === undefined) return null;
  return {
    status: 403,
    detail:
      `Expected a Host of this machine (localhost, 127.0.0.1 or [::1]), got ${other === '' ? 'none' : describe(other)}. ` +
      'Send requests to http://localhost, or start the server with a token, or with --insecure.',
  };
}

function checkOrigin({ headers: { origin } }: IncomingMessage): Rejection | null {
  if (origin === undefined || isLoopbackUrl(origin)) return null;
  return {
    status: 403,
    detail:
      `Expected no Origin, or one of this machine (http://localhost), got ${describe(origin)}. ` +
      'Start the server with a token to answer pages of other sites.',
  };
}

const isLoopbackUrl = (url: string): boolean => URL.canParse(url) && isLoopback(new URL(url).hostname);
