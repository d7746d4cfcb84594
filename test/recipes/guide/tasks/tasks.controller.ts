import { Body, Controller, Get, Patch, Post, Query, Res } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { WriteAccess } from '../../../../src/platform/access/index.js';
import {
  ReturnsData,
  ReturnsPageOrCursorPage,
  Throws,
} from '../../../../src/platform/http/openapi/returns.js';
import { created } from '../../../../src/platform/http/responses/created.js';
import { paged, type Paged } from '../../../../src/platform/http/responses/paged.js';
import { Id } from '../../../../src/platform/http/validation/id.js';
import { CreateTaskInput, UpdateTaskInput } from './task.input.js';
import { ListTasksQuery } from './task.query.js';
import { TaskView, toTaskView } from './task.view.js';
import { TasksService } from './tasks.service.js';

@ApiTags('Tasks')
@Controller({ path: 'tasks', version: '1' })
@WriteAccess()
export class TasksController {
  constructor(private readonly tasks: TasksService) {}

  @Get()
  @ApiOperation({ summary: 'Lists tasks' })
  @ReturnsPageOrCursorPage(TaskView)
  @Throws('INVALID_CURSOR')
  async list(
    @Query() query: ListTasksQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Paged<TaskView>> {
    const page =
      query.cursor === undefined
        ? (await this.tasks.list(query)).map(toTaskView)
        : (await this.tasks.listByCursor(query)).map(toTaskView);
    return paged(reply, page);
  }

  @Post()
  @ApiOperation({ summary: 'Creates a task' })
  @ReturnsData(TaskView)
  async create(
    @Body() input: CreateTaskInput,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<{ data: TaskView }> {
    return created(reply, '/v1/tasks', toTaskView(await this.tasks.create(input)));
  }

  @Patch(':id')
  @ApiOperation({ summary: 'Updates the given fields of a task' })
  @ReturnsData(TaskView)
  @Throws({ NOT_FOUND: 'Task not found' })
  async update(@Id() id: number, @Body() input: UpdateTaskInput): Promise<{ data: TaskView }> {
    return { data: toTaskView(await this.tasks.update(id, input)) };
  }
}
