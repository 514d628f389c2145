/** Which file a fault of the system is of. */

/** For a fault of an open file, which names none, as those of paths do. @returns what throws it with the file's name. */
export const naming =
  (path: string) =>
  (error: unknown): never => {
    if (error instanceof Error && 'syscall' in error && !('path' in error)) {
      Object.assign(error, { path, message: `${error.message} '${path}'` });
    }
    throw error;
  };
