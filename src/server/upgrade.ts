/** From HTTP to WebSockets: which path leads to which, and who is turned away before. */
import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Admit } from './admission.js';
import type { Sockets } from './sockets/sockets.js';

/** By path. */
export type SocketsByPath = Readonly<Record<string, Sockets>>;

interface Refused {
  readonly status: number;
  /** For people. */
  readonly detail: string;
}

const NOWHERE: Refused = { status: 404, detail: 'Not Found' };
/** Such as h2c, which some clients of HTTP/2 ask for with their first request. */
const NO_OTHER: Refused = {
  status: 400,
  detail: 'Expected HTTP/1.1, or an upgrade to a WebSocket, got another upgrade. Send it without one.',
};

export function upgrade(
  sockets: SocketsByPath,
  admit: Admit,
  request: IncomingMessage,
  stream: Duplex,
  head: Buffer,
): void {
  // A client that is gone before it is answered.
  stream.on('error', () => stream.destroy());
  const [path] = (request.url ?? '/').split('?');
  const refused = refusalOf(request, Object.hasOwn(sockets, path), admit);
  if (refused === null) sockets[path].upgrade(request, stream, head);
  else turnAway(stream, refused);
}

function refusalOf({ headers }: IncomingMessage, isSocket: boolean, admit: Admit): Refused | null {
  if (headers.upgrade?.toLowerCase() !== 'websocket') return NO_OTHER;
  return isSocket ? admit(headers) : NOWHERE;
}

function turnAway(stream: Duplex, { status, detail }: Refused): void {
  const body = JSON.stringify({ detail });
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  stream.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => stream.destroy());
}
