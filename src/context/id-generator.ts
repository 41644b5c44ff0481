import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';

/** Mints the ids of tasks, contexts, messages, artifacts and runs. Replaceable, so that ids are testable. */
export abstract class IdGenerator {
  /** A new id that nobody can guess. */
  abstract next(): string;
}

/** Mints lower-case RFC 4122 version 4 UUIDs. */
@Injectable()
export class UuidGenerator extends IdGenerator {
  next(): string {
    return randomUUID();
  }
}
