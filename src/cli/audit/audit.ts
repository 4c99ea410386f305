/** `docket audit`: each subcommand has its own file and is registered here. */

import type { AddCommand } from '../command.ts';
import { addAuditAnchorCommand } from './anchor.ts';
import { addAuditExportCommand } from './export.ts';
import { addAuditExportLogCommand } from './export-log.ts';
import { addAuditHeadCommand } from './head.ts';
import { addAuditPromisesCommand } from './promises.ts';
import { addAuditProveCommand } from './prove.ts';
import { addAuditReceiptsCommand } from './receipts.ts';
import { addAuditReconcileCommand } from './reconcile.ts';
import { addAuditReplayCommand } from './replay.ts';
import { addAuditVerifyCommand } from './verify.ts';

const SUBCOMMANDS: readonly AddCommand[] = [
  addAuditVerifyCommand,
  addAuditReplayCommand,
  addAuditProveCommand,
  addAuditHeadCommand,
  addAuditAnchorCommand,
  addAuditExportCommand,
  addAuditExportLogCommand,
  addAuditReceiptsCommand,
  addAuditPromisesCommand,
  addAuditReconcileCommand,
];

export const addAuditCommand: AddCommand = (program, context) => {
  const audit = program
    .command('audit')
    .description('Check the event log, and replay it.')
    .addHelpText(
      'after',
      '\nExamples:\n  $ docket audit verify\n  $ docket audit replay payments\n  $ docket audit replay all --json',
    );
  for (const add of SUBCOMMANDS) add(audit, context);
};
