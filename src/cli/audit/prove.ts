/** `docket audit prove`: a file that proves one event, or one payment up to its outcome, by a signed head. */
import { type AskedProof, askedProofOf, findSubject } from '../../audit/proof/proof-subject.ts';
import { type Proof, prove, type Unproven } from '../../audit/proof/prove.ts';
import { loadLogIdentity } from '../../commands/log-identity/log-identity.ts';
import type { EventLog } from '../../storage/event-log.ts';
import { type AddCommand, type CliContext, CliError, EXIT, printable } from '../command.ts';
import { writeOutput } from '../output-file.ts';
import { startReadingProgress } from '../reading-progress.ts';
import { openServiceLog, withStorage } from '../service-storage.ts';

interface ProveOptions {
  readonly out?: string;
  readonly force?: true;
}

const HELP = `
The proof names amounts, wallets and the transaction, but no filing text, URL or secret. examples/verifier checks it
without this program. It needs a head that covers the event: a running service records one every minute with events.

Examples:
  $ docket audit prove 7b0c8c6e-3f53-4e5f-9f0e-0d6f6a7f4a11 --out proof.json
  $ docket audit prove log-identity@0 --out founded.json
  $ docket audit prove SIGNATURE | python3 examples/verifier/verify.py -`;

const WHAT_TO_NAME =
  "Give an event's id, STREAM@REVISION, a request id, a transaction's signature, or the hash that names a payment's stream.";

export const addAuditProveCommand: AddCommand = (audit, context) => {
  audit
    .command('prove')
    .description('Prove one event, or one payment from its claim to its outcome, by a signed head of the log.')
    .argument(
      '<subject>',
      "an event: its id or STREAM@REVISION; a payment: its request id, its transaction's signature, or the hash that names its stream",
    )
    .option('--out <file>', 'write to this file, which appears once it is complete (default: stdout)')
    .option('--force', 'replace the file if it exists')
    .option('--json', 'no effect on the proof, which is always JSON; errors become JSON too')
    .addHelpText('after', HELP)
    .action(async (text: string, { out, force }: ProveOptions) => {
      const asked = askedProofOf(text);
      if (asked === null) throw new CliError(`${JSON.stringify(text)} names no event and no payment.`, WHAT_TO_NAME);
      await withStorage(openServiceLog, context, async ({ log }) => {
        const proof = await proven(log, text, asked, context);
        const file = `${printable(JSON.stringify(proof, null, 2))}\n`;
        await writeOutput(context, { out: out ?? null, force: force === true }, inOnePart(file));
      });
    });
};

async function* inOnePart(text: string): AsyncIterable<string> {
  yield text;
}

async function proven(log: EventLog, text: string, asked: AskedProof, context: CliContext): Promise<Proof> {
  const identity = await loadLogIdentity(log);
  if (identity === null) {
    throw new CliError(
      'The event log has no identity yet, so no head can name it.',
      'The next start of the service records it.',
      EXIT.found,
    );
  }
  const progress = startReadingProgress(context, log);
  try {
    const subject = await findSubject(progress.log, asked);
    if (typeof subject === 'string') throw notFound[subject](text);
    const proof = await prove(progress.log, identity.logId, subject);
    if (typeof proof === 'string') throw UNPROVEN[proof];
    return proof;
  } finally {
    progress.end();
  }
}

const notFound = {
  missing: (text: string) =>
    new CliError(
      `The log has nothing named ${JSON.stringify(text)}.`,
      'List what there is: docket audit replay payments --json',
      EXIT.found,
    ),
  open: (text: string) =>
    new CliError(
      `The payment ${JSON.stringify(text)} has no outcome yet.`,
      'Wait until it is settled or failed. One event of it can be proven before that: docket audit prove STREAM@REVISION',
      EXIT.found,
    ),
};

const UNPROVEN: Readonly<Record<Unproven, CliError>> = {
  uncovered: new CliError(
    'No signed head covers this event yet.',
    'A running service records one within a minute, and one at a stop, unless AUDIT_HEADS=off. docket audit head shows the newest.',
    EXIT.found,
  ),
  broken: new CliError(
    'The log does not match its own signed head, so the event cannot be proven.',
    'docket audit verify says where the log was changed.',
    EXIT.found,
  ),
};
