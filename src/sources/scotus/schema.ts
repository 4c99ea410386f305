/** The JSON that the Supreme Court publishes of a case: only what is used, and nothing that locates a person. */
import { z } from 'zod';

const Text = z.string().nullish().catch(null);
const Items = z.array(z.unknown()).nullish().catch(null);

export const RawCase = z.object({
  CaseNumber: z.string(),
  bCapitalCase: z.boolean().nullish().catch(null),
  sJsonCaseType: Text,
  RelatedCaseNumber: Items,
  PetitionerTitle: Text,
  RespondentTitle: Text,
  DocketedDate: Text,
  Links: Text,
  LowerCourt: Text,
  LowerCourtCaseNumbers: Text,
  // A docket always has this list; without it the file is not one.
  ProceedingsandOrder: z.array(z.unknown()),
  Petitioner: Items,
  Respondent: Items,
  Other: Items,
});
export type RawCase = z.infer<typeof RawCase>;

export const RawProceeding = z.object({ Date: Text, Text, Links: Items });

export const RawLink = z.object({ Description: Text, DocumentUrl: Text });

export const RawRelated = z.object({ DisplayCaseNumber: z.string() });

/** Telephone, address, mail address and prisoner number are in the file, and are not even read. */
export const RawCounsel = z.object({
  Attorney: Text,
  IsCounselofRecord: z.boolean().nullish().catch(null),
  Title: Text,
  PartyName: Text,
});
