/** Adds a file's path to system errors. */

/**
 * Returns a handler that adds `path` to an error of an open file and throws it again. Such errors lack the path, because
 * their system calls take a descriptor.
 */
export const rethrowWithPath =
  (path: string) =>
  (error: unknown): never => {
    if (error instanceof Error && 'syscall' in error && !('path' in error)) {
      Object.assign(error, { path, message: `${error.message} '${path}'` });
    }
    throw error;
  };
