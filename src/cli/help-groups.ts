/** The headings under which `docket --help` lists the commands. */
const GROUPS: readonly (readonly [heading: string, commands: readonly string[]])[] = [
  ['Run the service:', ['serve', 'status', 'doctor', 'config', 'chain', 'demo']],
  ['Dockets:', ['import', 'sources', 'cases', 'classify', 'courts']],
  ['Money, callers and callbacks:', ['revenue', 'wallets', 'find', 'keys', 'deliveries', 'hosts', 'callbacks']],
  ['Storage:', ['projections', 'backup', 'restore', 'migrate', 'forget', 'log', 'audit']],
  ['Buy from a service:', ['wallet', 'query']],
];

/** In the order of the help; a command without a heading is listed last, under "Commands". */
export const helpGroupOf = (command: string): string | undefined =>
  GROUPS.find(([, commands]) => commands.includes(command))?.[0];

const ORDER = GROUPS.flatMap(([, commands]) => commands);

export function inHelpOrder(a: string, b: string): number {
  const place = (name: string): number => (ORDER.includes(name) ? ORDER.indexOf(name) : ORDER.length);
  return place(a) - place(b);
}
