/**
 * Access control. A server with a token admits requests with this token. A server without a token refuses requests that web
 * pages of other sites send.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { sentenceOf } from '../shared/errors.js';
import { describe } from '../shared/values.js';
import { StatusError } from './protocol/errors.js';
import { isLoopback, type Settings } from './server-options.js';

/** Checks the head of a request. @returns null for a request with access. */
export type AccessCheck = (request: IncomingMessage) => StatusError | null;

const unauthorized = (expected: string, got: string): StatusError =>
  new StatusError(401, sentenceOf({ expected, got, remedy: "Send the server's token." }), {
    'www-authenticate': 'Bearer',
  });
const NO_TOKEN = unauthorized('the header "Authorization: Bearer TOKEN"', 'none');
const OTHER_TOKEN = unauthorized('the server\'s token in "Authorization: Bearer TOKEN"', 'another token');
const forbidden = (expected: string, got: string, remedy: string): StatusError =>
  new StatusError(403, sentenceOf({ expected, got, remedy }));

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

function checkHost({ headersDistinct, url = '' }: IncomingMessage): StatusError | null {
  // An absolute target (`GET http://name/path`) also names the server.
  const [, target] = /^https?:\/\/([^/?#]*)/i.exec(url) ?? [];
  const names = [...(headersDistinct.host ?? ['']), ...(target === undefined ? [] : [target])];
  const other = names.find((name) => !/^[^\s/?#@\\]+$/.test(name) || !isLoopbackUrl(`http://${name}`));
  if (other === undefined) return null;
  return forbidden(
    'a Host of this machine (localhost, 127.0.0.1 or [::1])',
    other === '' ? 'none' : describe(other),
    'Send requests to http://localhost, or start the server with a token, or with --insecure.',
  );
}

function checkOrigin({ headers: { origin } }: IncomingMessage): StatusError | null {
  if (origin === undefined || isLoopbackUrl(origin)) return null;
  return forbidden(
    'no Origin, or one of this machine (http://localhost)',
    describe(origin),
    'Start the server with a token to answer pages of other sites.',
  );
}

const isLoopbackUrl = (url: string): boolean => URL.canParse(url) && isLoopback(new URL(url).hostname);
