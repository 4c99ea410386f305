/** Damages stored content in place, as a bad disk does: one bit of a blob's bytes. */
import { join } from 'node:path';
import { Binary, MongoClient } from 'mongodb';
import { Database } from '../../src/storage/sqlite/driver.ts';

const spoil = (bytes: Buffer): Buffer => {
  const last = bytes.length - 1;
  bytes.writeUInt8(bytes.readUInt8(last) ^ 1, last);
  return bytes;
};

/** Done twice, it is repaired. */
export async function damageInSqlite(directory: string, name: string): Promise<void> {
  const database = new Database(join(directory, 'log.sqlite'));
  const bytes = database.prepare<[string], Buffer>('SELECT bytes FROM payloads WHERE name = ?').pluck().get(name)!;
  database.prepare('UPDATE payloads SET bytes = ? WHERE name = ?').run(spoil(bytes), name);
  database.close();
}

export async function damageInMongo(url: string, name: string): Promise<void> {
  const client = new MongoClient(url);
  const stored = client.db().collection<{ _id: string; bytes: Binary }>('payloads');
  const bytes = Buffer.from((await stored.findOne({ _id: name }))!.bytes.value());
  await stored.updateOne({ _id: name }, { $set: { bytes: new Binary(spoil(bytes)) } });
  await client.close();
}
