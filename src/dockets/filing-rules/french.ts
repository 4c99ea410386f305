/** French entries, without accents. Words that English shares count only if the text continues in French. */
import { ALWAYS, type Rules } from './rule.ts';

export const FRENCH: Rules = {
  'ordonnance ordonnances': [
    [/^ordonnances? (?:projetee|proposee)/, 'proposed_order'],
    [/^ordonnances? (?:fixant|convoquant)[^.]{0,60}(?:audience|conference|instruction)/, 'order', 'hearing'],
    [ALWAYS, 'order'],
  ],
  projet: [[/^projet d(?:'|e |u )(?:ordonnance|jugement)/, 'proposed_order']],
  'directives directive': [[ALWAYS, 'order']],
  'jugement jugements': [
    [/^jugements? et (?:motifs)/, 'judgment', 'opinion'],
    [ALWAYS, 'judgment'],
  ],
  decision: [[/^decision (?:de la|du|rendue|finale|sur|de l')/, 'order']],
  expose: [[/^expose (?:de|des|du|sommaire)/, 'brief']],
  arret: [[ALWAYS, 'judgment']],
  motifs: [
    [/^motifs (?:[^.]{0,40})?et jugement/, 'opinion', 'judgment'],
    [/^motifs (?:[^.]{0,40})?et (?:d')?ordonnance/, 'opinion', 'order'],
    [ALWAYS, 'opinion'],
  ],
  'proces-verbal proces-verbaux': [
    [/^proces-verb\w+ (?:de )?(?:signification|notification)/, 'service'],
    [ALWAYS, 'minute_entry', 'hearing'],
  ],
  presence: [[/^presence (?:de|du)/, 'minute_entry', 'hearing']],
  devant: [[/^devant (?:l'|le |la |monsieur|madame)/, 'minute_entry', 'hearing']],
  'audience audition': [[ALWAYS, 'hearing']],
  instruction: [[/^instruction (?:de|du|fixee|tenue|reportee|au fond)/, 'hearing']],
  conference: [[/^conference (?:de|preparatoire|preparation)/, 'hearing']],

  declaration: [
    [/^declaration (?:sous serment|solennelle|assermentee|de signification)/, 'declaration'],
    [/^declaration (?:de culpabilite|commune sur la peine)/, 'plea_sentencing'],
    [/^declaration d'appel/, 'appeal'],
    [
      /^declaration (?:modifiee|amendee|re-?modifiee|introductive|deposee?|de la part|de la partie|du demandeur|des demandeurs|d'action|produite|contre)/,
      'complaint',
    ],
  ],
  'demande demandes': [
    [
      /^demandes? d'autorisation d'appel|^demandes? d'autorisation d'en appeler|^demandes? d'autorisation (?:de|d')(?:interjeter )?appel/,
      'appeal',
    ],
    [
      /^demandes? (?:d'autorisation|de controle judiciaire|introductive|reconventionnelle|en justice|initiale|d'action)/,
      'complaint',
    ],
    [/^demandes? de transcription/, 'transcript'],
    [/^demandes? de production|^demandes? d'aveux?/, 'discovery'],
    [/^demandes? (?:initiale )?a (?:ircc|l'ircc)/, 'other'],
    [ALWAYS, 'motion'],
  ],
  reconventionnelle: [[ALWAYS, 'complaint']],
  'requete requetes': [
    [/^requetes? (?:introductive|en divorce)/, 'complaint'],
    [/^requetes? (?:en|pour|d') ?(?:autorisation d'appel|permission d'appeler)/, 'appeal'],
    [ALWAYS, 'motion'],
  ],
  'defense defenses': [
    [/^defenses? (?:de la|du|des|de l'|modifiee|amendee|deposee|reconventionnelle|et|a la|ecrite|produite)/, 'answer'],
  ],
  'reponse reponses': [
    [/^reponses? [^.]{0,60}a la defense/, 'reply'],
    [/^reponses? (?:aux|a l')(?: )?(?:interrogatoire|demande de production|engagements?)/, 'discovery'],
    [ALWAYS, 'response'],
  ],
  'replique repliques reponse-a-defense': [[ALWAYS, 'reply']],
  opposition: [[/^opposition (?:a la|de la|du|ecrite)/, 'response']],
  contestation: [[ALWAYS, 'response']],
  'memoire memoires': [
    [/^memoires? [^.]{0,50}(?:en reponse|de l'intimee?|en opposition)(?!.{0,3}incident)/, 'brief'],
    [/^memoires? [^.]{0,20}en replique|^memoires? en replique/, 'reply', 'brief'],
    [/^memoires? (?:de frais|de depens)/, 'fee'],
    [ALWAYS, 'brief'],
  ],
  'observations plaidoirie plaidoiries': [
    [/^observations (?:ecrites|de)/, 'brief'],
    [/^plaidoiries? (?:ecrite)/, 'brief'],
    [/^plaidoiries?/, 'hearing'],
  ],
  dossier: [
    [/^dossier de (?:la )?(?:reponse|l'intime|l'intimee)|^dossier (?:de requete )?(?:de |en )reponse/, 'response'],
    [/^dossier de (?:la )?requete (?:de la part )?(?:de la partie intimee|en reponse|de l'intime)/, 'response'],
    [/^dossier de (?:la )?requete/, 'motion'],
    [/^dossier d'appel/, 'record'],
    [
      /^dossier (?:certifie|du tribunal|de la demande|de demande|du demandeur|de la partie demanderesse|de la demanderesse|de la partie defenderesse|du defendeur|d'instruction|du requerant)/,
      'record',
    ],
    [/^dossier (?:ferme|clos|rouvert|reactive|inactif)/, 'other'],
    [/^dossier (?:transfere|transmis|reattribue|attribue)/, 'transfer_assignment'],
  ],
  copie: [[/^copies? (?:certifiee )?(?:conforme )?(?:de la |du )(?:decision|dossier)/, 'record']],

  'affidavit affidavits': [
    [/^affidavits? (?:de|attestant|portant)(?: la)? (?:signification|notification|l'envoi)/, 'service'],
  ],
  'preuve certificat attestation': [
    [/^\w+ (?:de |d')(?:la )?(?:signification|notification|livraison|service)/, 'service'],
    [/^certificat (?:d'avocat|du procureur|de l'avocat)[^.]{0,40}signification/, 'service'],
    [/^certificat (?:d'etat|de mise en etat)/, 'other'],
  ],
  'signification assignation': [
    [/^assignation (?:a temoin|a comparaitre|de temoin)/, 'subpoena'],
    [/^\w+ (?:de|du|des|a|d'|au|effectuee|par)/, 'service'],
  ],
  citation: [[/^citation a comparaitre/, 'subpoena']],
  subpoena: [],
  'piece pieces annexe annexes': [
    [/^(?:pieces?|annexes?)(?:$| (?:de|du|des|p-|d-|a l'|jointe|\d|[a-z]\b|justificative|deposee|au))/, 'exhibit'],
  ],
  recueil: [
    [/^recueil (?:des? )?(?:sources|jurisprudence|autorites|doctrine)/, 'brief'],
    [/^recueil (?:de )?(?:pieces|condense)/, 'exhibit'],
  ],
  cahier: [
    [/^cahier d'appel/, 'record'],

    [/^cahier (?:conjoint )?(?:des? |d')(?:sources|autorites)/, 'brief'],
    [/^cahier (?:de )?(?:pieces)/, 'exhibit'],
  ],

  avis: [
    [
      /^avis d'appel|^avis (?:de )?(?:demande d'autorisation d'|d'incident|d')?appel|^avis d'appel incident/,
      'appeal',
      'notice',
    ],
    [/^avis de (?:demande|la demande|poursuite|revendication)/, 'complaint', 'notice'],
    [/^avis de (?:la )?(?:requete|presentation)/, 'motion', 'notice'],
    [
      /^avis (?:de|d') ?(?:la )?(?:comparution|changement d'avocat|changement de procureur|changement de representation|constitution|nomination|cessation|retrait de l'avocat|substitution)/,
      'appearance',
      'notice',
    ],
    [
      /^avis d'(?:interrogatoire|examen (?:prealable|au prealable))|^avis de (?:production|communication)/,
      'discovery',
      'notice',
    ],
    [
      /^avis d'(?:audience|instruction|audition|ajournement)|^avis de (?:convocation|gestion|conference|report)/,
      'hearing',
      'notice',
    ],
    [/^avis de (?:desistement|retrait) d(?:e la|'une|e sa) requete/, 'notice'],
    [/^avis d'intention d'agir/, 'appearance', 'notice'],
    [
      /^avis de (?:desistement|discontinuation|retrait de (?:la )?(?:demande|action))|^avis d'abandon/,
      'dismissal',
      'notice',
    ],
    [/^avis de (?:reglement|transaction)/, 'settlement', 'notice'],
    [
      /^avis de (?:transfert|reaffectation|reattribution)|^avis d'(?:attribution|affectation)/,
      'transfer_assignment',
      'notice',
    ],
    [/^avis de (?:signification)/, 'service', 'notice'],
    [/^avis d'opposition/, 'response', 'notice'],
    [ALWAYS, 'notice'],
  ],
  comparution: [
    [/^comparution initiale/, 'hearing'],
    [ALWAYS, 'appearance'],
  ],
  constitution: [[/^constitution (?:de|d') ?(?:nouvel |nouveau )?(?:avocat|procureur)/, 'appearance']],
  changement: [[/^changement (?:d'avocat|de procureur)/, 'appearance']],
  substitution: [[/^substitution (?:de procureur|d'avocat)/, 'appearance']],

  retrait: [[/^retrait (?:de|du|d')/, 'notice']],
  accuse: [[/^accuse de reception/, 'service']],
  desistement: [[ALWAYS, 'dismissal']],
  'consentement entente': [
    [/^entente (?:de|a l'amiable|conclue|sur le)/, 'settlement'],
    [/^consentement a jugement/, 'stipulation'],
    [/^consentement/, 'stipulation'],
  ],
  'reglement transaction': [
    [/^reglement (?:hors|a l'amiable|de l'instance|intervenu|conclu|du litige)/, 'settlement'],
    [/^transaction (?:et|entre|intervenue)/, 'settlement'],
  ],
  'interrogatoire interrogatoires': [[ALWAYS, 'discovery']],
  engagements: [[ALWAYS, 'discovery']],
  'lettre lettres courriel correspondance telecopie': [[ALWAYS, 'letter']],
  'rapport rapports': [
    [/^rapports? (?:presentenciel|predecisionnel|pre-?sentenciel)/, 'plea_sentencing', 'report'],
    [ALWAYS, 'report'],
  ],
  acte: [
    [/^acte d'accusation/, 'charging_document'],
    [/^acte (?:de )?(?:signification)/, 'service'],
  ],
  denonciation: [[ALWAYS, 'charging_document']],
  accusation: [[/^accusation/, 'charging_document']],
  'plaidoyer plaidoyers peine condamnation': [[ALWAYS, 'plea_sentencing']],
  sentence: [[/^sentence (?:prononcee|imposee|du|de)/, 'plea_sentencing']],
  verdict: [[/^verdict/, 'verdict']],
  'cautionnement caution engagement': [
    [/^(?:cautionnement|caution)/, 'bond'],
    [/^engagement (?:de caution|de garder|a comparaitre)/, 'bond'],
  ],
  mandat: [[ALWAYS, 'warrant']],
  appel: [[/^appel (?:interjete|depose|incident|de la|du|inscrit)/, 'appeal']],
  inscription: [
    [/^inscription (?:en appel)/, 'appeal'],
    [/^inscription (?:pour|au)/, 'other'],
  ],
  stenographiques: [[ALWAYS, 'transcript']],
  designation: [[/^designation d(?:u|'un) juge/, 'transfer_assignment']],
  transcription: [[/^transcriptions? (?:de|du|des)/, 'transcript']],
  'liste etat plan bilan': [
    [/^liste (?:de|des) (?:creanciers|reclamations)/, 'claim_plan_schedule'],
    [/^liste (?:de|des) (?:pieces)/, 'exhibit'],
    [/^liste (?:des |d')(?:sources|autorites)/, 'brief'],
    [/^plan d'argumentation/, 'brief'],
    [/^plan (?:de|d') ?(?:arrangement|reorganisation|redressement)/, 'claim_plan_schedule'],
  ],
  reclamation: [[/^reclamation|^preuve de reclamation/, 'claim_plan_schedule']],
  'droit droits frais paiement recu depens': [
    [/^droits? (?:de greffe|de depot|judiciaire|exigible)/, 'fee'],
    [/^frais (?:de|judiciaires|payes|recus)/, 'fee'],
    [/^paiement/, 'fee'],
    [/^recu (?:de paiement|no|pour)/, 'fee'],
    [/^depens/, 'fee'],
  ],
  'transfert renvoi reaffectation affaire attribution': [
    [/^affaire (?:transferee|attribuee|reattribuee|confiee)/, 'transfer_assignment'],
    [/^(?:transfert|renvoi|reaffectation|attribution) (?:de|du|a|au)/, 'transfer_assignment'],
  ],
  'designe designee assigne affecte': [
    [/^\w+ (?:a titre de|comme) (?:juge|protonotaire)|^\w+ (?:au juge|a l'instance)/, 'transfer_assignment'],
  ],
  'scelle scelles confidentiel': [
    [/^(?:sous )?scelles?/, 'sealed_event'],
    [/^confidentiel/, 'sealed_event'],
  ],
};
