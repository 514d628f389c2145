/** Adds a file's path to system errors. */

/**
 * Returns a handler that throws an error again, with `path` if it is a system error without one, such as an error of a call on
 * an open file.
 */
export const rethrowWithPath =
  (path: string) =>
  (error: unknown): never => {
    if (error instanceof Error && 'syscall' in error && !('path' in error)) {
      Object.assign(error, { path, message: `${error.message} '${path}'` });
    }
    throw error;
  };
