/** `docket classify`: what docket entries are, told from their texts. */
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { classifyFiling } from '../dockets/classify.ts';
import { FILING_TYPES } from '../dockets/filing-type.ts';
import { type AddCommand, type CliContext, note, printJson } from './command.ts';

export const addClassifyCommand: AddCommand = (program, context) => {
  program
    .command('classify')
    .description('Tell the filing types of docket entries: texts on stdin, one a line; {primary, all} a line.')
    .argument('[text...]', 'one text, instead of stdin')
    .option('--json', 'the output is JSON lines in any case')
    .addHelpText(
      'after',
      `
One line comes out for each line that goes in, an empty one included, in the same order. English and French are told
by themselves. Types: ${FILING_TYPES.join(', ')}.

Examples:
  $ docket classify ORDER granting MOTION to compel
  $ docket classify < entries.txt
  $ jq -r '.docket_entries[].description' docket.json | docket classify | jq -r .primary | sort | uniq -c`,
    )
    .action((words: string[]) => (words.length > 0 ? printTypes(context, words.join(' ')) : classifyLines(context)));
};

async function classifyLines(context: CliContext): Promise<void> {
  if ('isTTY' in context.stdin && context.stdin.isTTY)
    note(context, 'Texts of docket entries, one a line; end with Ctrl-D:');
  for await (const line of createInterface({ input: context.stdin, crlfDelay: Number.POSITIVE_INFINITY })) {
    printTypes(context, line);
    if ('writableNeedDrain' in context.stdout && context.stdout.writableNeedDrain) await once(context.stdout, 'drain');
  }
}

function printTypes(context: CliContext, text: string): void {
  const { primary, all } = classifyFiling(text);
  printJson(context, { primary, all });
}
