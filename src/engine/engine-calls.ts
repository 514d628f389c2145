/** Computations that are written once and run on synchronous and asynchronous environments and batches. */

/**
 * A computation as a generator. It yields the return value of each call of the engine: a result, or a promise of one.
 * `runSync` or `runAsync` drives it and passes the result of each call back.
 */
export type EngineCalls<Result> = Generator<unknown, Result, unknown>;

/** Returns the result of an engine call inside a computation: `const outputs = yield* resultOf(env.step(actions))`. */
export function* resultOf<T>(call: T): EngineCalls<Awaited<T>> {
  return (yield call) as Awaited<T>;
}

/** Runs a computation whose calls return no promises. @returns the computation's result. @throws its errors. */
export function runSync<Result>(calls: EngineCalls<Result>): Result {
  let step = calls.next();
  while (step.done !== true) step = calls.next(step.value);
  return step.value;
}

/**
 * Runs a computation whose calls may return promises. Awaits only results that are promises. Throws a rejection inside the
 * computation, where it yielded the call.
 */
export async function runAsync<Result>(calls: EngineCalls<Result>): Promise<Result> {
  let step = calls.next();
  while (step.done !== true) {
    step = step.value instanceof Promise ? await continueAfter(step.value, calls) : calls.next(step.value);
  }
  return step.value;
}

/** Awaits a call, then continues the computation with its result or error. */
async function continueAfter<Result>(
  call: Promise<unknown>,
  calls: EngineCalls<Result>,
): Promise<IteratorResult<unknown, Result>> {
  let result: unknown;
  try {
    result = await call;
  } catch (error) {
    return calls.throw(error);
  }
  return calls.next(result);
}

/**
 * Resolves in a later turn of the event loop, so that timers, messages and clicks can come first. A resolved promise would
 * run before them, and a timer would wait even if nothing is pending.
 */
export const yieldTurn = (): Promise<void> =>
  new Promise((resolve) => {
    if (typeof setImmediate === 'function') setImmediate(resolve);
    else postThroughChannel(resolve);
  });

/** Calls `resolve` when the event loop delivers a message. */
function postThroughChannel(resolve: () => void): void {
  const { port1, port2 } = new MessageChannel();
  const onMessage = (): void => {
    port1.close();
    resolve();
  };
  port1.addEventListener('message', onMessage);
  port1.start();
  port2.postMessage(null);
}
