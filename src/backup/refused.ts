/** A copy cannot be made or used; the message says why, the hint what to do. */
export class CopyRefused extends Error {
  readonly code = 'copy_refused';
  constructor(
    message: string,
    readonly hint: string,
    readonly details: readonly string[] = [],
  ) {
    super(message);
    this.name = 'CopyRefused';
  }
}

/** How far a copy is, for a person who waits for it. */
export type Progress = (step: string, done: number, of: number | null) => void;
