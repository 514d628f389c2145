/** Computations that are written once and run on synchronous and asynchronous environments and batches. */

/**
 * A computation that yields each call of the engine, whose result may be a promise. Its driver, `runSync` or `runAsync`,
 * passes the result back.
 */
export type EngineCalls<Result> = Generator<unknown, Result, unknown>;

/** Returns the result of an engine call, in a computation: `const outputs = yield* resultOf(env.step(actions))`. */
export function* resultOf<T>(call: T): EngineCalls<Awaited<T>> {
  return (yield call) as Awaited<T>;
}

/** Runs a computation whose calls return their results. @returns the computation's result. @throws its errors. */
export function runSync<Result>(calls: EngineCalls<Result>): Result {
  let step = calls.next();
  while (step.done !== true) step = calls.next(step.value);
  return step.value;
}

/**
 * Runs a computation whose calls may return promises, and continues at once after those that do not. A rejection is thrown
 * where the computation yielded the call.
 */
export async function runAsync<Result>(calls: EngineCalls<Result>): Promise<Result> {
  let step = calls.next();
  while (step.done !== true) {
    step = step.value instanceof Promise ? await settle(step.value, calls) : calls.next(step.value);
  }
  return step.value;
}

/** Awaits a call and continues the computation. */
async function settle<Result>(
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
