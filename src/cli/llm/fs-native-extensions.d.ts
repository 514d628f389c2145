declare module 'fs-native-extensions' {
  /** Locks a whole file that is open for writing. @returns false if another open file holds its lock. */
  export function tryLock(fd: number): boolean;
}
