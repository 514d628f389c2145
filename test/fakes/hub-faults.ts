/** How a fake Hub misbehaves, when it is told to. */
import type { IncomingMessage, ServerResponse } from 'node:http';

/** What is done instead of an answer. */
export type Misdeed =
  | { readonly answer: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string }
  /** Reads so many bytes of the request, then ends the connection. */
  | { readonly dropAfter: number }
  /** Does what is asked, but ends the connection before the answer. */
  | { readonly loseAnswer: true }
  /** Reads so many bytes of the request, and never answers. */
  | { readonly hangAfter: number };

export interface Fault {
  /** Matched against `METHOD /path?query`. */
  readonly on: RegExp;
  /** Matching requests that are let pass before. */
  readonly after?: number;
  /** How often; always where it is left out. */
  readonly times?: number;
  readonly does: Misdeed;
}

/** Faults that are waited for, in their order. */
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

  /** Counts a request. @returns what is done instead of an answer to it; null for nothing. */
  next(request: string): Misdeed | null {
    for (const each of this.#faults) {
      const { on, after = 0, times = Number.POSITIVE_INFINITY, does } = each.fault;
      if (!on.test(request)) continue;
      each.seen++;
      if (each.seen > after && each.seen <= after + times) return does;
    }
    return null;
  }

  /** @returns whether it has taken the request upon itself. */
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
