/** Writes a log of at least so many events, and gives their number. */
export function writeAuditLog(directory: string, events: number, progress?: (line: string) => void): Promise<number>;
