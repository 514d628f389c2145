/** Faults that tests add to a fake Hub. */
import type { IncomingMessage, ServerResponse } from 'node:http';

/** What a fault does to a request. */
export type FaultAction =
  /** Answers with this status, without handling the request. */
  | { readonly answer: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string }
  /** Reads this many bytes of the request, then closes the connection. */
  | { readonly dropAfter: number }
  /** Handles the request, but closes the connection before the answer. */
  | { readonly loseAnswer: true }
  /** Reads this many bytes of the request, and never answers. */
  | { readonly hangAfter: number };

export interface Fault {
  /** Matches the faulty requests, as `METHOD /path?query`. */
  readonly pattern: RegExp;
  /** The number of matching requests before the first fault. Default 0. */
  readonly after?: number;
  /** The number of faults; by default unlimited. */
  readonly times?: number;
  readonly action: FaultAction;
}

/** The added faults. The first that affects a request is used. */
export class Faults {
  readonly #faults: { fault: Fault; requests: number }[] = [];
  readonly #hangListeners: (() => void)[] = [];

  add(fault: Fault): void {
    this.#faults.push({ fault, requests: 0 });
  }

  clear(): void {
    this.#faults.length = 0;
  }

  /** Resolves as soon as a request hangs. */
  hanging(): Promise<void> {
    return new Promise((resolve) => this.#hangListeners.push(resolve));
  }

  /** Counts a request. @returns the action of its fault; null for none. */
  next(request: string): FaultAction | null {
    for (const each of this.#faults) {
      const { pattern, after = 0, times = Number.POSITIVE_INFINITY, action } = each.fault;
      if (!pattern.test(request)) continue;
      each.requests++;
      if (each.requests > after && each.requests <= after + times) return action;
    }
    return null;
  }

  /** Applies a fault that replaces the handling of a request. @returns false for null and `loseAnswer`, which do not. */
  async apply(
    action: FaultAction | null,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<boolean> {
    if (action === null || 'loseAnswer' in action) return false;
    if ('answer' in action) {
      const { answer, headers, body = '' } = action;
      request.resume();
      await new Promise((resolve) => request.once('end', resolve).once('close', resolve));
      response.writeHead(answer, headers).end(body);
      return true;
    }
    const limit = 'dropAfter' in action ? action.dropAfter : action.hangAfter;
    let read = 0;
    await new Promise<void>((resolve) => {
      const countBytes = (bytes: number) => {
        read += bytes;
        if (read >= limit) resolve();
      };
      request.on('data', (chunk: Buffer) => countBytes(chunk.length)).once('end', resolve);
      countBytes(0);
    });
    if ('dropAfter' in action) request.socket.destroy();
    else for (const notify of this.#hangListeners.splice(0)) notify();
    return true;
  }
}
