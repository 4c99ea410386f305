/** Every rule that `docket audit verify` checks, by the name that it reports. */

export interface Rule {
  /** What holds if the rule is kept. */
  readonly holds: string;
}

const rule = (holds: string): Rule => ({ holds });

export const RULES = {
  // Events and streams.
  hash_matches: rule("Each event's hash is that of its content and of the hash before it in its stream."),
  event_in_its_stream: rule('Each event is in a stream of its own kind.'),
  schema_of_its_time: rule(
    'An event that names its command has no older schema than such events have had from the start.',
  ),

  // Payments.
  payment_order: rule('The events of a payment come in an order that its rules allow.'),
  charge_has_answer: rule(
    'No payment is submitted or charged before the answer of its call is recorded: stored bytes, or what a call on keys does.',
  ),
  answer_has_charge: rule('Each recorded answer is submitted for payment.'),
  failed_query_not_charged: rule(
    'No payment is submitted or charged for a query that failed, or if none of its queries was answered.',
  ),
  one_request: rule('The answer, the failure and the charge of a payment name the request that was authorized.'),
  charge_as_authorized: rule(
    'An outcome names the wallet, request, amount, transaction and answered cases that were authorized, answered and submitted.',
  ),
  charge_owes_promised: rule('A settlement owes exactly the callbacks and the key call that its answer promised.'),
  amount_exact: rule(
    'The amount is the price of one query times the number of queries, which is one, or at most 50 in a batch.',
  ),
  answers_within_queries: rule(
    'No payment answers more cases than it pays queries for, nor names more of them by court than it answers.',
  ),
  wire_is_the_payment: rule(
    "The submitted bytes are a transaction; its message's SHA-256 names the stream, and its first signature the transaction.",
  ),
  wire_pays_as_authorized: rule(
    'The submitted transaction transfers the authorized amount of the mint from the wallet to the account of payTo, and nothing else.',
  ),
  memo_names_the_call: rule('A memo that names a call names the one that was sold.'),
  wire_signed: rule('Each signature of the submitted transaction is valid.'),
  outcome_in_time: rule('A submitted payment has an outcome within 24 hours.'),
  finality_in_time: rule('A settled payment is final, or rolled back, within 24 hours.'),
  transaction_used_once: rule('No transaction pays for two requests.'),
  answer_used_once: rule('No stored answer is charged to two payments.'),
  paid_to_the_receiver: rule("A payment is on the log's chain, in its mint, to its receiver at the time."),
  identifier_one_request: rule('A payment identifier names one request.'),
  identifier_claimed: rule(
    'A payment with an identifier was claimed under it for this request, at the revision that followed.',
  ),
  identifier_pays_once: rule(
    'Under one identifier a payment is submitted only after each earlier one failed or was rolled back.',
  ),
  payment_rolled_back: rule('Listed, and no breach: a payment that was answered and then undone by the cluster.'),
  batch_entries_failed: rule(
    'Listed, and no breach: a batch that is charged in full though some of its queries failed.',
  ),

  // Callbacks.
  delivery_order: rule('A delivery is scheduled once, before everything else in its stream.'),
  delivery_idempotency_key: rule("A delivery's id, which is its idempotency key, names its stream."),
  delivery_promised: rule('Each scheduled callback was promised by a settled payment.'),
  delivery_as_promised: rule(
    'A callback is scheduled for the payment, request, wallet, URL and origin that it was promised for.',
  ),
  delivery_promised_once: rule('No two payments promise the same delivery.'),
  callback_scheduled: rule('Each promised callback of a settled payment is scheduled within an hour.'),
  attempt_one_at_a_time: rule('An attempt starts only after the one before has an outcome.'),
  attempt_at_most_seven: rule('A delivery is attempted at most seven times, and not after its success or its end.'),
  attempt_not_early: rule('No attempt starts before it is due.'),
  attempt_numbered: rule('Attempts have consecutive numbers, redeliveries their own.'),
  attempt_lease: rule('An attempt has 60 seconds until it counts as interrupted.'),
  attempt_outcome: rule('An outcome is that of the attempt under way: its number, key and start.'),
  attempt_result: rule(
    'A 2xx response is acknowledged, and everything else has the failure class of its response, or of none.',
  ),
  attempt_repeats: rule('An interrupted attempt is repeated under its number at most three times.'),
  attempt_schedule: rule(
    'The next attempt is due 3, 9, 27, 81, 243 or 729 minutes after a failure, plus at most 5 % or what Retry-After asked for, at most twice the delay.',
  ),
  attempt_in_time: rule(
    'What is due for a delivery happens within a day, not counting the time while its host is paused.',
  ),
  attempt_late: rule(
    'Listed, and no breach: an attempt that began more than ten minutes late, not counting the time while its host was paused.',
  ),
  time_as_recorded: rule(
    'Listed, and no breach: a time in an event of a callback or a key that is more than a minute from its recording, because a clock was set, recording it took long, or somebody wrote another.',
  ),
  attempt_key_valid: rule("An attempt is signed with the wallet's current key, or one replaced while it was prepared."),
  withdrawn_by_record: rule(
    'A callback ends without its content, or is scheduled without any, only if that was removed or replaced by record before, or its time was over.',
  ),
  redelivery_as_requested: rule('A redelivery is requested for the delivery as scheduled, with the next number.'),
  attempt_not_paused: rule('No attempt starts while its host is paused, once five minutes have passed.'),
  cancelled_while_open: rule(
    'A delivery is ended for the wallet and host as scheduled, while an attempt is to come and none is under way.',
  ),
  reschedule_by_clock: rule('A wait is restarted only if its clock was set back, and lasts as long as before.'),

  // Signing keys.
  key_order: rule("A wallet's first key is created, and each later one replaces the current one."),
  key_window: rule('A replaced key stays valid for exactly 30 minutes.'),
  key_unique: rule('No key id is used twice in a wallet.'),
  key_paid: rule('A key is rotated only by a settled payment that reserved its id.'),
  key_call_done: rule('A paid rotation makes its key within an hour.'),
  proof_used_once: rule('No proof of a wallet is accepted twice.'),
  master_key_introduced: rule('A version of the master key is introduced before it is used.'),
  master_key_unique: rule('A version of the master key is introduced once.'),

  // Dockets.
  docket_order: rule('A docket is opened once, first, and its baseline is completed once.'),
  filing_announced_once: rule('No filing is recorded twice.'),
  filing_known: rule('Only a known filing is revised, merged or withdrawn.'),
  filing_time_unique: rule('No two filings or changes of a docket have the same time.'),
  filing_time_rises: rule("A docket's times after its baseline rise strictly."),
  merge_keeps_time: rule("A merged filing keeps the earlier filing's time."),
  revision_keeps_time: rule('A revised filing keeps the time at which it became available.'),
  alias_unique: rule('A case number never changes its meaning.'),
  docket_forgotten_last: rule('Nothing is recorded in a docket after it was forgotten.'),

  // Sources.
  webhook_once: rule(
    'A message that a source pushed is received once, before its outcome, and has one outcome, each in its own stream.',
  ),
  webhook_in_time: rule('A message that a source pushed has its outcome within 24 hours.'),
  alert_follows: rule('An alert ends only while it is in force, under its id, each in its own stream.'),

  // Content and operators.
  content_kept: rule(
    'An answer is kept for 30 days and what a callback sends for 40, give or take a day for clocks that are set.',
  ),
  redaction_in_its_stream: rule('The removal of content is recorded in the stream of that content.'),
  redaction_refers: rule('The removal of content refers to an event that names it.'),
  operator_act_follows: rule(
    'A host or a source is paused, or a wallet banned, only if it is not; resumed or unbanned only if it is; each in its own stream.',
  ),
  banned_wallet_buys_nothing: rule('No payment of a banned wallet is accepted, once five minutes have passed.'),
  forget_ordered: rule('What is removed to obey an order to forget is removed after that order.'),
  forget_completed: rule('An order to forget is completed once.'),
  forget_in_time: rule('An order to forget is completed within 24 hours.'),
  operator_named: rule(
    "An operator's act names the actor and a reason; an alert of a source and an anchor only the actor.",
  ),
  log_founded_once: rule('A log has one identity.'),
  receiver_change_follows: rule('A change of the receiver names the receiver before.'),

  // Checked by src/audit/verify.
  event_readable: rule('Each event has metadata and data that are JSON objects as this service writes them.'),
  type_known: rule('Each event has a type that this service writes.'),
  schema_fits: rule('The data of each event fits the schema of its type and version.'),
  event_id_recomputable: rule(
    "Each event's id is the one that its command, its stream and its place in its append give it.",
  ),
  command_recorded: rule('From the first event that names its command, every event does.'),
  revisions_contiguous: rule('The revisions of each stream are 0, 1, 2 … in the order of the log.'),
  positions_contiguous: rule(
    'Positions rise; on SQLite they are 1, 2, 3 …, and no event is before them, where no reader would find it.',
  ),
  head_key_known: rule('Each head is signed by a version of the key that was introduced before, once.'),
  head_signature_valid: rule('Each head has a valid signature of its key.'),
  head_key_kept: rule('Each key of heads is one that was given with `--key`, or that of the master key at hand.'),
  head_in_time: rule(
    'Listed, and no breach: events that no head covers an hour later, because `AUDIT_HEADS` was off, or heads were removed.',
  ),
  head_size_rises: rule('Each head covers more events than the one before it.'),
  head_root_matches: rule('The root of each head is that of as many events as it covers.'),
  head_peaks_match: rule('The peaks of each head are those of the tree.'),
  head_covers_last: rule('Each head names the last event that it covers.'),
  head_kept_matches: rule('The log begins with the events of the head that was kept.'),
  anchor_names_head: rule('Each anchor names a head that was recorded before.'),
  anchor_on_chain: rule("Each anchor's transaction is on the chain and holds its root."),
  payload_stored: rule('Content that an event names is stored, or absent by record or because its time was over.'),
  payload_intact: rule('Stored content has the hash that its name is.'),
  pushed_as_answered: rule('A callback sends the bytes of the answer that promised it, unchanged.'),
  forgotten_not_stored: rule('Content that a completed order to forget removed is not stored.'),
  redaction_recorded: rule('Content that replaces other content does so by record.'),
} as const satisfies Record<string, Rule>;

export type RuleName = keyof typeof RULES;

/** What is listed apart, because an auditor must know of it although it is as the service promises. */
export const LISTED: ReadonlySet<RuleName> = new Set<RuleName>([
  'payment_rolled_back',
  'batch_entries_failed',
  'attempt_late',
  'time_as_recorded',
  'head_in_time',
]);
