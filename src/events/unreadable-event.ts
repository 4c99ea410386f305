/** An event in the log that does not match its own type or hash: another program wrote or changed it. */
export interface EventPlace {
  readonly type: string;
  readonly stream?: string;
  readonly revision?: number;
  readonly position?: string;
}

export class UnreadableEvent extends Error {
  readonly code = 'event_unreadable';
  readonly hint =
    'This service never writes such an event. Restore the log from a backup; do not edit it. docket audit verify lists every one.';
  constructor(
    readonly place: EventPlace,
    problem: string,
    options?: ErrorOptions,
  ) {
    const { type, stream = 'unknown', revision, position } = place;
    super(
      `event ${type} in stream ${stream}, revision ${revision ?? 'unknown'}, position ${position ?? 'unknown'}: ${problem}`,
      options,
    );
    this.name = 'UnreadableEvent';
  }
}
