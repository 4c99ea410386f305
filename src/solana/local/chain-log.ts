/** The logger interface that the local chain needs; pino fits. */
export interface ChainLog {
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
  error(details: object, message: string): void;
}
