/** Connections that node:cluster has handed to a worker, until the worker has accepted them. */
import type { ChildProcess } from 'node:child_process';
import type { SocketHandle } from './worker-sockets.js';

/**
 * An internal message of node:cluster: a new connection (act 'newconn', number `seq`), or the answer to message number `ack`.
 */
interface InternalMessage {
  readonly act?: string;
  readonly seq?: number;
  readonly ack?: number;
}

/**
 * Closes the connections that a worker has not accepted when it ends. node:cluster leaves them open, so their clients would
 * wait for ever.
 */
export class HandedConnections {
  readonly #handles = new Map<number, SocketHandle>();

  /** @param process the process of the worker, to which no connection was handed yet. */
  constructor(process: ChildProcess) {
    const send = process.send.bind(process) as (...args: unknown[]) => boolean;
    process.send = (message: unknown, handle?: unknown, ...rest: unknown[]) => {
      const { act, seq } = message as InternalMessage;
      if (act === 'newconn') this.#handles.set(seq!, handle as SocketHandle);
      return send(message, handle, ...rest);
    };
    process.on('internalMessage', ({ ack }: InternalMessage) => {
      if (ack !== undefined) this.#handles.delete(ack);
    });
  }

  /** Closes the connections that were not accepted. */
  closeAll(): void {
    for (const handle of this.#handles.values()) handle.close();
    this.#handles.clear();
  }
}
