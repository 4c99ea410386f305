/**
 * A program that does nothing and succeeds, as the smallest ELF file that the runtime loads. Tests place it at the
 * address of Lighthouse, whose guards wallets add to transactions and which LiteSVM does not include. It is a stand-in:
 * it asserts nothing.
 */

/** `r0 = 0; exit` in sBPF. */
const INSTRUCTIONS = Buffer.from('b7000000000000009500000000000000', 'hex');
const SECTION_NAMES = Buffer.from('\0.text\0.shstrtab\0');
const HEADER_BYTES = 64;
const SECTION_HEADER_BYTES = 64;
const MACHINE_SBF = 263;

interface Section {
  readonly name: number;
  readonly type: number;
  readonly flags: bigint;
  readonly offset: number;
  readonly size: number;
}

export function succeedingProgram(): Uint8Array {
  const namesAt = HEADER_BYTES + INSTRUCTIONS.length;
  const sectionsAt = Math.ceil((namesAt + SECTION_NAMES.length) / 8) * 8;
  const sections: readonly Section[] = [
    { name: 0, type: 0, flags: 0n, offset: 0, size: 0 },
    { name: 1, type: 1, flags: 6n, offset: HEADER_BYTES, size: INSTRUCTIONS.length },
    { name: 7, type: 3, flags: 0n, offset: namesAt, size: SECTION_NAMES.length },
  ];
  const file = Buffer.alloc(sectionsAt + sections.length * SECTION_HEADER_BYTES);
  // 64 bits, little-endian, version 1, shared object.
  Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]).copy(file);
  file.writeUInt16LE(3, 16);
  file.writeUInt16LE(MACHINE_SBF, 18);
  file.writeUInt32LE(1, 20);
  file.writeBigUInt64LE(BigInt(HEADER_BYTES), 24);
  file.writeBigUInt64LE(BigInt(sectionsAt), 40);
  file.writeUInt16LE(HEADER_BYTES, 52);
  file.writeUInt16LE(56, 54);
  file.writeUInt16LE(SECTION_HEADER_BYTES, 58);
  file.writeUInt16LE(sections.length, 60);
  file.writeUInt16LE(sections.length - 1, 62);
  INSTRUCTIONS.copy(file, HEADER_BYTES);
  SECTION_NAMES.copy(file, namesAt);
  sections.forEach(({ name, type, flags, offset, size }, index) => {
    const at = sectionsAt + index * SECTION_HEADER_BYTES;
    file.writeUInt32LE(name, at);
    file.writeUInt32LE(type, at + 4);
    file.writeBigUInt64LE(flags, at + 8);
    file.writeBigUInt64LE(flags ? BigInt(offset) : 0n, at + 16);
    file.writeBigUInt64LE(BigInt(offset), at + 24);
    file.writeBigUInt64LE(BigInt(size), at + 32);
    file.writeBigUInt64LE(type === 0 ? 0n : 1n, at + 48);
  });
  return file;
}
