import { Controller, Get, Module, Query, Res } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Public } from '../../../../src/platform/access/index.js';
import {
  ReturnsData,
  ReturnsPageOrCursorPage,
  Throws,
} from '../../../../src/platform/http/openapi/returns.js';
import { paged, type Paged } from '../../../../src/platform/http/responses/paged.js';
import { Id } from '../../../../src/platform/http/validation/id.js';
import { TasksModule } from './tasks.module.js';
import { TasksService } from './tasks.service.js';
import { ListTasksQuery } from './task.query.js';
import { TaskV2View, toTaskV2View } from './task-v2.view.js';

/** The same tasks as version 1, by the same service. */
@ApiTags('Tasks')
@Controller({ path: 'tasks', version: '2' })
@Public()
class TasksV2Controller {
  constructor(private readonly tasks: TasksService) {}

  @Get()
  @ApiOperation({ summary: 'Lists tasks' })
  @ReturnsPageOrCursorPage(TaskV2View)
  @Throws('INVALID_CURSOR')
  async list(
    @Query() query: ListTasksQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Paged<TaskV2View>> {
    const page =
      query.cursor === undefined
        ? (await this.tasks.list(query)).map(toTaskV2View)
        : (await this.tasks.listByCursor(query)).map(toTaskV2View);
    return paged(reply, page);
  }

  @Get(':id')
  @ApiOperation({ summary: 'Reads a task' })
  @ReturnsData(TaskV2View)
  @Throws({ NOT_FOUND: 'Task not found' })
  async read(@Id() id: number): Promise<{ data: TaskV2View }> {
    return { data: toTaskV2View(await this.tasks.get(id)) };
  }
}

@Module({ imports: [TasksModule], controllers: [TasksV2Controller] })
export class TasksV2Module {}
