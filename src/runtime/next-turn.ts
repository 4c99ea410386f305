/** Lets everything that waits for the event loop run first. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
