/** Dates as the Supreme Court writes them. */
import { isDay } from '../../dockets/court-time.ts';
import { cleanText, clip } from '../../dockets/text.ts';
import { monthOf } from '../month-name.ts';

const DATE = /^([A-Za-z]{3,9})\.? (\d{1,2}),? (\d{4})\b/;

/** `May 07 2024` and `May 9, 2024` as a day; null for anything else, and for days that do not exist. */
export function readDate(text: string | null | undefined): string | null {
  const [, name = '', day = '', year = ''] = DATE.exec(cleanText(clip(text ?? '', 100))) ?? [];
  const month = monthOf(name);
  const written = `${year}-${String(month).padStart(2, '0')}-${day.padStart(2, '0')}`;
  return month > 0 && isDay(written) ? written : null;
}
