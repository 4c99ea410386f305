/** What the local chain needs of a logger; pino's fits. */
export interface ChainLog {
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
  error(details: object, message: string): void;
}
