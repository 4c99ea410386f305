/** `docket audit`: each subcommand has its own file and is registered here. */

import { addAuditAnchorCommand } from './audit-anchor.ts';
import { addAuditExportCommand } from './audit-export.ts';
import { addAuditExportLogCommand } from './audit-export-log.ts';
import { addAuditHeadCommand } from './audit-head.ts';
import { addAuditPromisesCommand } from './audit-promises.ts';
import { addAuditProveCommand } from './audit-prove.ts';
import { addAuditReceiptsCommand } from './audit-receipts.ts';
import { addAuditReconcileCommand } from './audit-reconcile.ts';
import { addAuditReplayCommand } from './audit-replay.ts';
import { addAuditVerifyCommand } from './audit-verify.ts';
import type { AddCommand } from './command.ts';

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
