import { Args, ArgsType, Field, Int, ObjectType, Query, Resolver } from '@nestjs/graphql';
import { IsIn, IsOptional } from 'class-validator';
import { WriteAccess } from '../../../../src/platform/access/index.js';
import {
  Connection,
  ConnectionArgs,
  connectionCost,
  type ConnectionOf,
  readConnection,
} from '../../../../src/platform/graphql/connection.js';
import { TASK_STATUSES } from './task.entity.js';
import type { TaskFilter } from './task.query.js';
import { TaskView, toTaskView } from './task.view.js';
import { NEWEST_FIRST, TasksService } from './tasks.service.js';

@ObjectType({ description: 'A page of tasks.' })
class TaskConnection extends Connection(TaskView) {}

/** The filters of a connection are arguments beside `first` and `after`. */
@ArgsType()
class TasksArgs extends ConnectionArgs implements TaskFilter {
  @Field(() => String, { nullable: true, description: 'Only tasks with this status.' })
  @IsOptional()
  @IsIn(TASK_STATUSES)
  status?: (typeof TASK_STATUSES)[number] | null;

  @Field(() => Int, { nullable: true, description: 'Only tasks with this priority.' })
  priority?: number | null;
}

@Resolver(() => TaskView)
@WriteAccess()
export class TasksResolver {
  constructor(private readonly service: TasksService) {}

  @Query(() => TaskConnection, { description: 'The newest first.', complexity: connectionCost })
  tasks(@Args() args: TasksArgs): Promise<ConnectionOf<TaskView>> {
    return readConnection(args, NEWEST_FIRST, {
      rows: (page) => this.service.listAfter(args, page),
      count: () => this.service.count(args),
      toNode: toTaskView,
    });
  }
}
