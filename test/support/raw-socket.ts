/** A raw WebSocket client, which sends bytes unchanged and answers no frame by itself. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface FrameOptions {
  readonly opcode?: number;
  readonly fin?: boolean;
  readonly masked?: boolean;
}

/** Returns a client's frame (RFC 6455, 5.2) of at most 65,535 bytes of payload, by default masked with zeros. */
export function rawFrame(
  payload: string | Buffer,
  { opcode = 1, fin = true, masked = true }: FrameOptions = {},
): Buffer {
  const bytes = Buffer.from(payload);
  const long = bytes.length > 125;
  const head = Buffer.alloc(long ? 4 : 2);
  head[0] = (fin ? 0x80 : 0) | opcode;
  head[1] = (masked ? 0x80 : 0) | (long ? 126 : bytes.length);
  if (long) head.writeUInt16BE(bytes.length, 2);
  return Buffer.concat([head, ...(masked ? [Buffer.alloc(4)] : []), bytes]);
}

/** Opens a connection and upgrades it to a WebSocket. The caller reads from the socket. */
export async function rawSocket(port: number, path = '/ws'): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  const key = Buffer.alloc(16).toString('base64');
  socket.write(
    `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
      `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\n\r\n`,
  );
  const [answer] = (await once(socket, 'data')) as [Buffer];
  if (!answer.toString().startsWith('HTTP/1.1 101')) throw new Error(`Expected an upgrade, got ${answer}.`);
  return socket;
}
