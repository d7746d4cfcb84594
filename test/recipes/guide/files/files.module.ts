import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import multipart from '@fastify/multipart';
import {
  Controller,
  Get,
  Inject,
  Module,
  type OnModuleInit,
  Param,
  ParseUUIDPipe,
  Post,
  Req,
  StreamableFile,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { Changes } from '../../../../src/platform/changes/index.js';
import { Transactions } from '../../../../src/platform/database/transactions.js';
import { AppError, ERRORS } from '../../../../src/platform/http/errors/errors.js';
import { ConfigureRoute } from '../../../../src/platform/http/route-config.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    acceptsForms?: boolean;
  }
}

/** The folder that the files are in. */
const FOLDER = Symbol('folder of files');

/** 10 MiB, in bytes. */
const MAX_SIZE = 10 * 1024 * 1024;

/**
 * Files of accounts. They pass through in chunks, and are never in memory as a whole. The reference, which describes
 * bodies of JSON, does not contain them.
 */
@ApiExcludeController()
@Controller({ path: 'files', version: '1' })
class FilesController {
  constructor(
    @Inject(FOLDER) private readonly folder: string,
    private readonly transactions: Transactions,
    private readonly changes: Changes,
  ) {}

  @Post()
  @ConfigureRoute({ acceptsForms: true })
  async upload(@Req() request: FastifyRequest): Promise<{ id: string }> {
    const part = await request.file({ limits: { fileSize: MAX_SIZE, files: 1 } });
    if (!part) throw new AppError('VALIDATION_ERROR', 'The form has no file');
    const id = randomUUID();
    const path = join(this.folder, id);
    try {
      await pipeline(part.file, createWriteStream(path, { flags: 'wx' }));
      if (part.file.truncated) throw new AppError('PAYLOAD_TOO_LARGE', 'The file is larger than 10 MiB');
      await this.transactions.run(() => this.changes.record({ subject: `/v1/files/${id}` }));
    } catch (error) {
      await rm(path, { force: true });
      throw error;
    }
    return { id };
  }

  @Get(':id')
  async download(@Param('id', ParseUUIDPipe) id: string): Promise<StreamableFile> {
    const file = await open(join(this.folder, id)).catch((cause: NodeJS.ErrnoException) => {
      if (cause.code !== 'ENOENT') throw cause;
      throw new AppError('NOT_FOUND', 'File not found', { cause });
    });
    const { size } = await file.stat();
    // A browser must not show an uploaded file as a page of this service.
    return new StreamableFile(file.createReadStream(), { length: size, disposition: 'attachment' });
  }
}

@Module({ controllers: [FilesController], providers: [{ provide: FOLDER, useFactory: tmpdir }] })
export class FilesModule implements OnModuleInit {
  constructor(private readonly host: HttpAdapterHost<FastifyAdapter>) {}

  /** After the steps of the pipeline, which remove the parsers that Fastify has before them. */
  async onModuleInit(): Promise<void> {
    // In a command, there is no HTTP server.
    if (!this.host.httpAdapter) return;
    await this.host.httpAdapter.register(multipart as never);
    // The plugin accepts forms at every path.
    this.host.httpAdapter.getInstance().addHook('preValidation', (request, _reply, done) => {
      const isRejected = request.isMultipart() && !request.routeOptions.config.acceptsForms;
      done(
        isRejected
          ? new AppError('UNSUPPORTED_MEDIA_TYPE', ERRORS.UNSUPPORTED_MEDIA_TYPE.message)
          : undefined,
      );
    });
  }
}
