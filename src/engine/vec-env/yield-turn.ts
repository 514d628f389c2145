/** Yields to the event loop during long work. */

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
