/** How the commands that copy a storage report why they refuse. */
import { CopyRefused } from '../../backup/refused.ts';
import { CliError, EXIT } from '../command.ts';

/** @throws CliError for a refusal: it is what the command found, not a wrong usage */
export async function reportingRefusals<Result>(act: () => Promise<Result>): Promise<Result> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof CopyRefused)) throw error;
    const { message, hint, details } = error;
    throw new CliError([message, ...details.map((detail) => `  ${detail}`)].join('\n'), hint, EXIT.found, {
      code: error.code,
      ...(details.length > 0 && { problems: details }),
    });
  }
}
