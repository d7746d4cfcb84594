import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { DataSource, type EntityMetadata } from 'typeorm';
import { Config } from '../config/config.js';
import { Transactions } from '../database/transactions.js';
import { EventTypes } from './define-events.js';

/**
 * Warns in development about changes by repositories and query builders that have no event, although the changes of their
 * entity have: consumers would never learn of them.
 */
@Injectable()
export class UnrecordedChanges implements OnModuleInit {
  private readonly logger = new Logger('Changes');

  /** The units of work with an event. */
  private readonly recorded = new WeakSet<object>();

  constructor(
    private readonly source: DataSource,
    private readonly transactions: Transactions,
    private readonly types: EventTypes,
    private readonly config: Config,
  ) {}

  onModuleInit(): void {
    if (this.config.production) return;
    const note = ({ metadata }: { readonly metadata: EntityMetadata }) => this.note(metadata);
    this.source.subscribers.push({ afterInsert: note, afterUpdate: note, afterRemove: note });
  }

  /** Records that the current unit of work has an event. */
  markRecorded(): void {
    if (this.transactions.current) this.recorded.add(this.transactions.current);
  }

  private note({ target, tableName }: EntityMetadata): void {
    if (!this.types.haveEntity(target)) return;
    const unit = this.transactions.current;
    // After the commit: the event is recorded after the row.
    this.transactions.onCommit(() => {
      if (unit && this.recorded.has(unit)) return;
      this.logger.warn(
        `Rows of ${tableName} were changed without an event: call Changes.record() in the same Transactions.run(), or write by the service of the module (docs/extending.md, "Record a change")`,
      );
    });
  }
}
