/** `docket classify`: finds the filing types of docket entries from their texts. */
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { classifyFiling } from '../dockets/classify.ts';
import { FILING_TYPES } from '../dockets/filing-type.ts';
import { type AddCommand, type CliContext, note, printJson } from './command.ts';

export const addClassifyCommand: AddCommand = (program, context) => {
  program
    .command('classify')
    .description('Classify docket entries: reads one text per line from stdin, prints {primary, all} for each.')
    .argument('[text...]', 'one text to classify instead of stdin')
    .option('--json', 'no effect: the output is always JSON lines')
    .addHelpText(
      'after',
      `
Prints one line for each line read, in the same order; empty lines count. The language, English or French, is detected
automatically. Types: ${FILING_TYPES.join(', ')}.

Examples:
  $ docket classify ORDER granting MOTION to compel
  $ docket classify < entries.txt
  $ jq -r '.docket_entries[].description' docket.json | docket classify | jq -r .primary | sort | uniq -c`,
    )
    .action((words: string[]) => (words.length > 0 ? printTypes(context, words.join(' ')) : classifyLines(context)));
};

async function classifyLines(context: CliContext): Promise<void> {
  if ('isTTY' in context.stdin && context.stdin.isTTY)
    note(context, 'Type docket entries, one per line; end with Ctrl-D:');
  for await (const line of createInterface({ input: context.stdin, crlfDelay: Number.POSITIVE_INFINITY })) {
    printTypes(context, line);
    if ('writableNeedDrain' in context.stdout && context.stdout.writableNeedDrain) await once(context.stdout, 'drain');
  }
}

function printTypes(context: CliContext, text: string): void {
  const { primary, all } = classifyFiling(text);
  printJson(context, { primary, all });
}
