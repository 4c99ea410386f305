/**
 * A statement as one printable page: no script, nothing loaded from elsewhere, every value escaped. It is written line by
 * line, so that its length costs no memory.
 */
import { escapeHtml } from '../../runtime/escape-html.ts';
import { usdcText } from '../../solana/decimal-amount.ts';
import { NO_TOTALS, plusLine, type StatementHead, type StatementLine } from './statement.ts';
import { headLines, queriesOf, second, totalLines } from './text.ts';

const STYLE = `
:root { color-scheme: light; font: 14px/1.45 system-ui, sans-serif; color: #1a1a1a; background: #fff; }
body { margin: 2rem auto; max-width: 62rem; padding: 0 1rem; }
h1 { font-size: 1.5rem; margin: 0 0 1rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1.2rem; margin: 0 0 1.5rem; }
dt { color: #595959; } dd { margin: 0; overflow-wrap: anywhere; }
table { width: 100%; border-collapse: collapse; }
th, td { text-align: left; vertical-align: top; padding: .4rem .6rem; border-bottom: 1px solid #d0d0d0; }
th { border-bottom: 2px solid #1a1a1a; white-space: nowrap; }
td small { display: block; color: #595959; overflow-wrap: anywhere; font-family: ui-monospace, monospace; font-size: .72rem; }
.amount { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.rolled_back .amount { text-decoration: line-through; }
.time { white-space: nowrap; }
.total { font-weight: 600; margin: 1rem 0 0; text-align: right; }
@page { margin: 15mm; }
@media print { body { margin: 0; max-width: none; padding: 0; font-size: 10pt; } thead { display: table-header-group; } tr { break-inside: avoid; } }
`;

export async function* statementHtml(head: StatementHead, lines: AsyncIterable<StatementLine>): AsyncIterable<string> {
  yield `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Statement of ${escapeHtml(head.wallet)}</title>
<style>${STYLE}</style>
</head>
<body>
<h1>Statement of payments</h1>
<dl>
${headLines(head)
  .map(([name, value]) => `<dt>${escapeHtml(name)}</dt><dd>${escapeHtml(value)}</dd>`)
  .join('\n')}
</dl>
<table>
<thead><tr><th scope="col">Paid</th><th scope="col">Request</th><th scope="col">Status</th><th scope="col" class="amount">USDC</th></tr></thead>
<tbody>
`;
  let totals = NO_TOTALS;
  for await (const line of lines) {
    totals = plusLine(totals, line);
    yield tableRow(line);
  }
  yield '</tbody>\n</table>\n';
  for (const sum of totalLines(totals)) yield `<p class="total">${escapeHtml(sum)}</p>\n`;
  yield '</body>\n</html>\n';
}

function tableRow({ paid_at, endpoint, queries, request_id, transaction, status, amount }: StatementLine): string {
  const asked = [endpoint ?? '', queriesOf(queries)].filter(Boolean).join(', ');
  const small = [`request ${request_id}`, `transaction ${transaction}`].map(
    (text) => `<small>${escapeHtml(text)}</small>`,
  );
  const name = escapeHtml(status ?? '');
  return `<tr class="${name}"><td class="time">${escapeHtml(second(paid_at))}</td><td>${escapeHtml(asked)}${small.join('')}</td><td>${name.replace('_', ' ')}</td><td class="amount">${usdcText(amount ?? 0n)}</td></tr>\n`;
}
