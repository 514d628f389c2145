/** Upgrades HTTP requests to WebSockets by path, or refuses them. */
import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { AccessCheck } from './access-control.js';
import type { Sockets } from './sockets/sockets.js';

/** Sockets by path. */
export type SocketsByPath = Readonly<Record<string, Sockets>>;

interface UpgradeRejection {
  readonly status: number;
  /** The message in the response. */
  readonly detail: string;
}

const UNKNOWN_PATH: UpgradeRejection = { status: 404, detail: 'Not Found' };
/** For upgrades to another protocol than WebSocket, such as h2c, which some HTTP/2 clients request first. */
const OTHER_UPGRADE: UpgradeRejection = {
  status: 400,
  detail:
    'Expected HTTP/1.1, or an upgrade to a WebSocket, got another upgrade. Send the request without it.',
};

/**
 * Upgrades a request to a WebSocket, or sends an error and closes the connection.
 * @param head the first bytes after the request's head.
 */
export function upgrade(
  sockets: SocketsByPath,
  rejectionOf: AccessCheck,
  request: IncomingMessage,
  stream: Duplex,
  head: Buffer,
): void {
  // The client may disconnect before the answer.
  stream.on('error', () => stream.destroy());
  const [path] = (request.url ?? '/').split('?');
  const rejection = upgradeRejection(request, Object.hasOwn(sockets, path), rejectionOf);
  if (rejection === null) sockets[path].upgrade(request, stream, head);
  else reject(stream, rejection);
}

function upgradeRejection(
  request: IncomingMessage,
  isSocket: boolean,
  rejectionOf: AccessCheck,
): UpgradeRejection | null {
  if (request.headers.upgrade?.toLowerCase() !== 'websocket') return OTHER_UPGRADE;
  return isSocket ? rejectionOf(request) : UNKNOWN_PATH;
}

function reject(stream: Duplex, { status, detail }: UpgradeRejection): void {
  const body = JSON.stringify({ detail });
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  stream.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => stream.destroy());
}
