/** How the pages look. System fonts, no picture, no script; light and dark, from 320 pixels on. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --ink: #1b1f27; --quiet: #5a6372; --paper: #fdfdfb; --panel: #f4f4ef; --line: #e0e0d8; --accent: #0f5c57;
  --mark: #e8f3f1; --string: #7a4a00; --word: #0b4f8a; --comment: #66707f;
  --sans: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
  --serif: ui-serif, "Iowan Old Style", "Palatino Linotype", Palatino, Georgia, "Times New Roman", serif;
  --mono: ui-monospace, "SF Mono", SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ink: #e4e6ea; --quiet: #a3abb8; --paper: #14161a; --panel: #1c1f25; --line: #30343d; --accent: #79cdc4;
    --mark: #1b2c2b; --string: #e3b778; --word: #8fbfee; --comment: #98a1b0;
  }
}
*, *::before, *::after { box-sizing: border-box; }
html { scroll-behavior: smooth; scroll-padding-top: 1.5rem; text-size-adjust: 100%; -webkit-text-size-adjust: 100%; }
@media (prefers-reduced-motion: reduce) { html { scroll-behavior: auto; } }
body { margin: 0; background: var(--paper); color: var(--ink); font: 1rem/1.65 var(--sans); overflow-wrap: break-word; }
a { color: var(--accent); text-underline-offset: .18em; text-decoration-thickness: .06em; }
a:hover { text-decoration-thickness: .12em; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 2px; }
.skip { position: absolute; left: -999rem; background: var(--paper); padding: .5rem 1rem; z-index: 1; }
.skip:focus { left: .5rem; top: .5rem; }

.top { border-bottom: 1px solid var(--line); padding: .9rem 1.25rem; }
.top a { color: inherit; text-decoration: none; font: 600 1.06rem/1.3 var(--serif); letter-spacing: .01em; }
.top a span { color: var(--accent); }
.frame { max-width: 76rem; margin: 0 auto; padding: 0 1.25rem; }
.menu { border-bottom: 1px solid var(--line); }
.menu summary { padding: .8rem 0; cursor: pointer; font-weight: 600; }
.menu nav { padding-bottom: 1rem; }
.menu h2 { font: 600 .75rem/1.4 var(--sans); letter-spacing: .07em; text-transform: uppercase; color: var(--quiet); margin: 1.2rem 0 .35rem; }
.menu ul { list-style: none; margin: 0; padding: 0; }
.menu li a { display: block; padding: .3rem 0; color: inherit; text-decoration: none; }
.menu li a:hover { color: var(--accent); text-decoration: underline; }
.menu li a[aria-current] { color: var(--accent); font-weight: 600; }
main { min-width: 0; padding: 1.5rem 0 4rem; }
main > :not(pre, .table), main section > * { max-width: 45rem; }
main > .table { max-width: 52rem; }
footer { border-top: 1px solid var(--line); color: var(--quiet); font-size: .9rem; padding: 1.25rem; }
footer p { max-width: 76rem; margin: 0 auto; }

h1, h2, h3 { font-family: var(--serif); font-weight: 600; line-height: 1.25; text-wrap: balance; }
h1 { font-size: clamp(1.8rem, 1.4rem + 2vw, 2.5rem); margin: .6rem 0 1.2rem; letter-spacing: -.01em; }
h1 + p { font-size: 1.13rem; line-height: 1.6; color: var(--quiet); }
h1 + p strong { color: var(--ink); }
main h2 { font-size: 1.42rem; margin: 3rem 0 .9rem; }
main h3 { font-size: 1.08rem; margin: 2.4rem 0 .7rem; }
main h3 code { background: none; padding: 0; font-size: 1rem; }
p, ul, ol, dl { margin: 0 0 1rem; }
ul, ol { padding-left: 1.35rem; }
li { margin: .3rem 0; }
li::marker { color: var(--quiet); }
dt { margin-top: .6rem; font-weight: 600; }
dd { margin: 0 0 0 1.1rem; }
.anchor { color: var(--quiet); text-decoration: none; font-weight: 400; opacity: 0; padding: 0 .2rem; }
:is(h2, h3):hover .anchor, .anchor:focus { opacity: 1; }
:target { background: var(--mark); box-shadow: -.6rem 0 0 var(--mark), .6rem 0 0 var(--mark); }

code, pre { font-family: var(--mono); font-size: .875em; }
code { background: var(--panel); padding: .12em .32em; border-radius: 4px; }
pre { background: var(--panel); border: 1px solid var(--line); border-radius: 8px; padding: .95rem 1.1rem; overflow-x: auto; line-height: 1.6; margin: 0 0 1.25rem; }
pre code { background: none; padding: 0; font-size: 1em; overflow-wrap: normal; }
.comment { color: var(--comment); font-style: italic; }
.string { color: var(--string); }
.word { color: var(--word); }
.number { color: var(--accent); }
.table { overflow-x: auto; margin: 0 0 1.25rem; }
table { border-collapse: collapse; width: 100%; font-size: .94rem; line-height: 1.5; overflow-wrap: normal; }
th, td { text-align: left; vertical-align: top; padding: .5rem .9rem .5rem 0; border-bottom: 1px solid var(--line); }
th { font-weight: 600; color: var(--quiet); font-size: .85rem; white-space: nowrap; }
td:first-child { white-space: nowrap; }
td:last-child { min-width: 11rem; padding-right: 0; }

main section { border-top: 1px solid var(--line); margin-top: 2.2rem; padding-top: .2rem; }
section h2 { font-size: 1.12rem; margin-top: 1.4rem; }
section h2 code { background: none; padding: 0; font-size: 1rem; }
.status { color: var(--quiet); font: 400 .95rem var(--sans); }
.codes { list-style: none; padding: 0; columns: 17rem; font-size: .92rem; color: var(--quiet); }
.codes a { font-family: var(--mono); font-size: .9em; margin-right: .3rem; }
main > .next { max-width: none; display: flex; justify-content: space-between; gap: 1rem; flex-wrap: wrap; margin-top: 4rem; padding-top: 1.25rem; border-top: 1px solid var(--line); }

@media (min-width: 60rem) {
  .top a { display: block; max-width: 73.5rem; margin: 0 auto; }
  .frame { display: grid; grid-template-columns: 12.5rem minmax(0, 1fr); gap: 0 4rem; }
  .menu { border: 0; align-self: start; padding: 1.6rem 0; font-size: .95rem; }
  footer p { max-width: 73.5rem; }
}
/* Where a closed table of contents can still be shown, it always is. */
@supports selector(::details-content) {
  @media (min-width: 60rem) {
    .menu summary { display: none; }
    .menu h2:first-child { margin-top: 0; }
    .menu::details-content { content-visibility: visible; display: block; height: auto; }
  }
  @media (min-width: 60rem) and (min-height: 44rem) { .menu { position: sticky; top: 0; } }
}
@media print { .top, .menu, .skip, .anchor, .next { display: none; } pre { white-space: pre-wrap; } }
`;
