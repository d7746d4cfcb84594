import { expect, it } from '@jest/globals';
import { Controller, Get, Module, Param } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import { Public } from '../src/platform/access/index.js';
import { AppError } from '../src/platform/http/errors/errors.js';
import { Throws } from '../src/platform/http/openapi/returns.js';
import { describeApi, REFERENCE_PARTS } from '../src/openapi.js';
import { buildDocument } from '../src/platform/reference/build-document.js';
import { startApi } from './support/api.js';
import { ANY_STORE } from './support/stores.js';

@Controller({ path: 'lines', version: '1' })
@Public()
class LinesController {
  @Get(':order/:line')
  @ApiOperation({ summary: 'Reads a line' })
  @Throws('INVALID_CURSOR', { NOT_FOUND: ['Order not found', 'Line not found'] }, { CONFLICT: 'Taken' })
  read(@Param('order') order: string): never {
    throw new AppError('NOT_FOUND', order === '1' ? 'Line not found' : 'Order not found');
  }
}

@Module({ controllers: [LinesController] })
class LinesModule {}

it('a handler declares several messages for one code, and mixes codes and messages', async () => {
  const api = await startApi(ANY_STORE, {}, [LinesModule]);
  const { paths } = JSON.parse(JSON.stringify(await buildDocument(api.app, describeApi(), REFERENCE_PARTS)));
  const { responses } = paths['/v1/lines/{order}/{line}'].get;
  const examples = (status: number) => responses[status].content['application/json'].examples;

  const absent = (message: string) => ({ value: { error: { code: 'NOT_FOUND', message } } });
  expect(responses[404].description).toBe('`NOT_FOUND`');
  expect(examples(404)).toEqual({
    NOT_FOUND: absent('Order not found'),
    NOT_FOUND_2: absent('Line not found'),
  });
  expect(examples(409).CONFLICT.value.error.message).toBe('Taken');
  expect(examples(400).INVALID_CURSOR.value.error.message).toMatch(/^The cursor/);
  expect((await api.get('/v1/lines/1/2')).body).toEqual(examples(404).NOT_FOUND_2.value);
  await api.stop();
});
