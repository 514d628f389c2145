/** Faults that tests add to a fake Hub. */
import type { IncomingMessage, ServerResponse } from 'node:http';

/** What happens instead of an answer. */
export type Misdeed =
  | { readonly answer: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string }
  /** Reads this many bytes of the request, then closes the connection. */
  | { readonly dropAfter: number }
  /** Handles the request, but closes the connection before the answer. */
  | { readonly loseAnswer: true }
  /** Reads this many bytes of the request, and never answers. */
  | { readonly hangAfter: number };

export interface Fault {
  /** Matched against `METHOD /path?query`. */
  readonly on: RegExp;
  /** The number of matching requests that pass first. */
  readonly after?: number;
  /** The number of faults; by default unlimited. */
  readonly times?: number;
  readonly does: Misdeed;
}

/** The pending faults, in order. */
export class Faults {
  readonly #faults: { fault: Fault; seen: number }[] = [];
  readonly #awaited: (() => void)[] = [];

  add(fault: Fault): void {
    this.#faults.push({ fault, seen: 0 });
  }

  clear(): void {
    this.#faults.length = 0;
  }

  /** Resolves once a request hangs. */
  hanging(): Promise<void> {
    return new Promise((resolve) => this.#awaited.push(resolve));
  }

  /** Counts a request. @returns its fault; null for none. */
  next(request: string): Misdeed | null {
    for (const each of this.#faults) {
      const { on, after = 0, times = Number.POSITIVE_INFINITY, does } = each.fault;
      if (!on.test(request)) continue;
      each.seen++;
      if (each.seen > after && each.seen <= after + times) return does;
    }
    return null;
  }

  /** Applies a fault to a request. @returns whether the request needs no further handling. */
  async misbehave(
    misdeed: Misdeed | null,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<boolean> {
    if (misdeed === null || 'loseAnswer' in misdeed) return false;
    if ('answer' in misdeed) {
      const { answer, headers, body = '' } = misdeed;
      request.resume();
      await new Promise((resolve) => request.once('end', resolve).once('close', resolve));
      response.writeHead(answer, headers).end(body);
      return true;
    }
    const most = 'dropAfter' in misdeed ? misdeed.dropAfter : misdeed.hangAfter;
    let read = 0;
    await new Promise<void>((resolve) => {
      const look = (bytes: number) => {
        read += bytes;
        if (read >= most) resolve();
      };
      request.on('data', (chunk: Buffer) => look(chunk.length)).once('end', resolve);
      look(0);
    });
    if ('dropAfter' in misdeed) request.socket.destroy();
    else for (const wake of this.#awaited.splice(0)) wake();
    return true;
  }
}
