/** From HTTP to WebSockets: which path leads to which, and who is turned away before. */
import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Admit } from './admission.js';
import type { Sockets } from './sockets/sockets.js';

/** By path. */
export type SocketsByPath = Readonly<Record<string, Sockets>>;

const NOWHERE = { status: 404, detail: 'Not Found' };

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
  const refused = Object.hasOwn(sockets, path) ? admit(request.headers) : NOWHERE;
  if (refused === null) sockets[path].upgrade(request, stream, head);
  else turnAway(stream, refused.status, refused.detail);
}

function turnAway(stream: Duplex, status: number, detail: string): void {
  const body = JSON.stringify({ detail });
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  stream.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => stream.destroy());
}
