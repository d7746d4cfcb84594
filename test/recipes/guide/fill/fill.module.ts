import { Injectable, Module } from '@nestjs/common';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { Entity, MoreThan, PrimaryColumn, type Repository } from 'typeorm';
import { IntegerColumn } from '../../../../src/platform/database/columns.js';
import { Queries } from '../../../../src/platform/database/queries.js';
import { Transactions } from '../../../../src/platform/database/transactions.js';
import { Task } from '../tasks/task.entity.js';

const NAME = 'task-urgency';

/** Rows of a batch: a write of the service waits for it, for some milliseconds. */
const SIZE = 1000;

/** How far a column is filled. */
@Entity('fills')
export class Fill {
  @PrimaryColumn({ type: 'text', collation: 'C' })
  name!: string;

  /** The id of the last row that is filled. */
  @IntegerColumn('position')
  position!: number;
}

/** Fills `tasks.urgency`. A row that is written meanwhile must get its value by the service itself. */
@Injectable()
export class TaskUrgencyFill {
  constructor(
    @InjectRepository(Task) private readonly tasks: Repository<Task>,
    @InjectRepository(Fill) private readonly fills: Repository<Fill>,
    private readonly queries: Queries,
    private readonly transactions: Transactions,
  ) {}

  /** The id of the last row. */
  async end(): Promise<number> {
    return (await this.tasks.maximum('id')) ?? 0;
  }

  /**
   * Fills the next batch. Its rows and its position are one transaction, so after a crash the next run continues there.
   *
   * @returns the id of the last row of the batch; undefined while another process fills
   */
  next(): Promise<number | undefined> {
    return this.transactions.run(async () => {
      const lock = this.queries.dialect.tryLock(':name');
      const [row] = await this.transactions.execute<{ isOurs: boolean }>(`SELECT ${lock} AS "isOurs"`, {
        name: NAME,
      });
      if (!row?.isOurs) return undefined;
      const { position = 0 } = (await this.fills.findOneBy({ name: NAME })) ?? {};
      const batch = { where: { id: MoreThan(position) }, order: { id: 'ASC' }, take: 1 } as const;
      const [last] = await this.tasks.find({ ...batch, skip: SIZE - 1 });
      const end = last?.id ?? (await this.end());
      await this.transactions.execute(
        'UPDATE tasks SET urgency = priority WHERE id > :position AND id <= :end',
        { position, end },
      );
      await this.fills.save({ name: NAME, position: end });
      return end;
    });
  }
}

@Module({ imports: [TypeOrmModule.forFeature([Task, Fill])], providers: [TaskUrgencyFill] })
export class FillModule {}
