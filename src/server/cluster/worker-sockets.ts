/** Handles of a worker's WebSockets. If the worker ends, the primary process of the cluster sends a close frame over each. */
import { Socket } from 'node:net';

/** A handle of a connection, as a worker sends it. The primary does not read from it. */
export interface SocketHandle {
  close(): void;
}

/** The close code "Service Restart" of IANA's registry for WebSockets. */
const CODE = 1012;
const REASON = 'the worker of this socket ended, and its episodes are lost: connect again and reset';

/** Returns a WebSocket close frame, unmasked as servers send it. */
function closeFrame(code: number, reason: string): Buffer {
  const payload = Buffer.alloc(2 + reason.length);
  payload.writeUInt16BE(code);
  payload.write(reason, 2, 'latin1');
  // 0x88 is the bit of a message's last frame, 0x80, and the opcode of close, 8. The length of a short payload takes one byte.
  return Buffer.concat([Buffer.of(0x88, payload.length), payload]);
}

export class WorkerSockets {
  readonly #handles = new Map<number, SocketHandle>();

  get size(): number {
    return this.#handles.size;
  }

  /** @param handle undefined if the connection closed before the handle arrived. */
  open(id: number, handle: SocketHandle | undefined): void {
    if (handle !== undefined) this.#handles.set(id, handle);
  }

  close(id: number): void {
    this.#handles.get(id)?.close();
    this.#handles.delete(id);
  }

  /** Sends a close frame to all clients, and closes their connections. */
  sendCloseFrames(): void {
    for (const handle of this.#handles.values()) {
      const socket = new Socket({ handle, readable: false } as never);
      // The client may have disconnected.
      socket.on('error', () => {});
      socket.end(closeFrame(CODE, REASON), () => socket.destroy());
    }
    this.#handles.clear();
  }
}
