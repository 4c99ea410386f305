/** Certificates for tests, written byte by byte: no program of the machine is used, and none is in the repository. */
import { createSign, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import { isIPv4 } from 'node:net';

export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

export interface Authority extends Certificate {
  /** A certificate for a host name or an IPv4 address, signed by this authority. */
  issue(host: string, valid?: { readonly from: Date; readonly until: Date }): Certificate;
  /** The same with an RSA key, for what elliptic curves cannot do. */
  issueRsa(host: string): Certificate;
}

const DAY_MS = 86_400_000;
const validNow = () => ({ from: new Date(Date.now() - DAY_MS), until: new Date(Date.now() + DAY_MS) });

export function makeAuthority(name = 'Test Authority'): Authority {
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const issuer = { name, key: keys.privateKey };
  const own = certificate({
    subject: name,
    publicKey: keys.publicKey,
    issuer,
    valid: validNow(),
    extension: AUTHORITY,
  });
  return {
    cert: own,
    key: pem(keys.privateKey),
    issueRsa(host) {
      const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
      const cert = certificate({ subject: host, publicKey, issuer, valid: validNow(), extension: namesOf(host) });
      return { cert, key: pem(privateKey) };
    },
    issue(host, valid = validNow()) {
      const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const cert = certificate({ subject: host, publicKey, issuer, valid, extension: namesOf(host) });
      return { cert, key: pem(privateKey) };
    },
  };
}

/** A self-signed certificate. */
export function makeSelfSigned(host: string): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const issuer = { name: host, key: privateKey };
  const cert = certificate({ subject: host, publicKey, issuer, valid: validNow(), extension: namesOf(host) });
  return { cert, key: pem(privateKey) };
}

const pem = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }).toString();

interface Wanted {
  readonly subject: string;
  readonly publicKey: KeyObject;
  readonly issuer: { readonly name: string; readonly key: KeyObject };
  readonly valid: { readonly from: Date; readonly until: Date };
  readonly extension: Buffer;
}

function certificate({ subject, publicKey, issuer, valid, extension }: Wanted): string {
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ECDSA_WITH_SHA256,
    distinguishedName(issuer.name),
    sequence(time(valid.from), time(valid.until)),
    distinguishedName(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(extension)),
  );
  const signature = createSign('sha256').update(body).sign(issuer.key);
  const whole = sequence(body, ECDSA_WITH_SHA256, der(0x03, Buffer.concat([Buffer.from([0]), signature])));
  const lines = whole.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}

/** One value of DER: tag, length, content. */
function der(tag: number, content: Buffer): Buffer {
  const { length } = content;
  if (length < 128) return Buffer.concat([Buffer.from([tag, length]), content]);
  const bytes = length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...bytes]), content]);
}

function sequence(...parts: Buffer[]): Buffer {
  return der(0x30, Buffer.concat(parts));
}

const oid = (hex: string): Buffer => der(0x06, Buffer.from(hex, 'hex'));
const ECDSA_WITH_SHA256 = sequence(oid('2a8648ce3d040302'));
/** Basic constraints: an authority. */
const AUTHORITY = sequence(
  oid('551d13'),
  der(0x01, Buffer.from([255])),
  der(0x04, sequence(der(0x01, Buffer.from([255])))),
);

const distinguishedName = (name: string): Buffer =>
  sequence(der(0x31, sequence(oid('550403'), der(0x0c, Buffer.from(name)))));

/** Subject alternative name: a DNS name, or an address. */
function namesOf(host: string): Buffer {
  const name = isIPv4(host) ? der(0x87, Buffer.from(host.split('.').map(Number))) : der(0x82, Buffer.from(host));
  return sequence(oid('551d11'), der(0x04, sequence(name)));
}

const time = (date: Date): Buffer => {
  const [day = '', clock = ''] = date.toISOString().slice(2, 19).split('T');
  return der(0x17, Buffer.from(`${day.replaceAll('-', '')}${clock.replaceAll(':', '')}Z`));
};
