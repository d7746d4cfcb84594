import { describe, expect, it } from '@jest/globals';
import {
  BadRequestException,
  ConflictException,
  GoneException,
  HttpException,
  ImATeapotException,
  NotFoundException,
  PreconditionFailedException,
} from '@nestjs/common';
import { QueryFailedError } from 'typeorm';
import { AppError, type ErrorCode, ERRORS } from './errors.js';
import { toAppError } from './to-app-error.js';

const withCode = (code: string, message = 'x') => Object.assign(new Error(message), { code });

const FIELD = { field: 'name', message: 'name is taken' };

describe('toAppError', () => {
  it('returns an AppError unchanged', () => {
    const error = new AppError('CONFLICT', 'Taken');

    expect(toAppError(error)).toBe(error);
  });

  it.each([
    [new NotFoundException('Comment not found'), 'NOT_FOUND', 'Comment not found'],
    [new BadRequestException('Bad'), 'MALFORMED_REQUEST', 'Bad'],
    [new ConflictException('Taken'), 'CONFLICT', 'Taken'],
    [new HttpException('Teapot', 418), 'MALFORMED_REQUEST', 'Teapot'],
    [new GoneException('Gone'), 'MALFORMED_REQUEST', 'Gone'],
    [new PreconditionFailedException('Changed'), 'PRECONDITION_FAILED', 'Changed'],
    [new BadRequestException(['a is bad', 'b is bad']), 'MALFORMED_REQUEST', 'a is bad; b is bad'],
    [new HttpException({ reason: 'a body of its own' }, 409), 'CONFLICT', 'Http Exception'],
    [new HttpException({ status: 403, error: 'A custom message' }, 403), 'FORBIDDEN', 'A custom message'],
    [new ConflictException(new Error('secret')), 'CONFLICT', 'Conflict'],
  ])('gives a Nest exception a code, and keeps its status and its text: %s', (thrown, code, message) => {
    expect(toAppError(thrown)).toMatchObject({ code, message, status: thrown.getStatus() });
  });

  it.each([
    [new BadRequestException('x'), [], []],
    [new HttpException({ status: 403, error: 'x' }, 403), [], []],
    [new ImATeapotException('x'), [], []],
    [new BadRequestException({ message: 'x', details: [FIELD] }), [FIELD], []],
    [new BadRequestException({ message: 'x', details: [{ ...FIELD, value: 'v' }, 7] }), [FIELD], ['details']],
    [
      new BadRequestException({ message: 'x', details: 'all', reason: 1, help: 2 }),
      [],
      ['details', 'reason', 'help'],
    ],
    [new BadRequestException('x', { description: 'why', errorCode: 'E1' }), [], ['error', 'errorCode']],
    [new ConflictException({ message: 'x', status: 418 }), [], ['status']],
  ])('keeps the details of a Nest exception that fit, and names the rest: %s', (thrown, details, dropped) => {
    const error = toAppError(thrown);

    expect(error).toMatchObject({ message: 'x', dropped });
    expect(error.details).toEqual(details);
  });

  it.each([
    [500, 'INTERNAL_ERROR'],
    [502, 'INTERNAL_ERROR'],
    [503, 'SERVICE_UNAVAILABLE'],
    [504, 'INTERNAL_ERROR'],
  ])('masks a Nest exception with status %i, and keeps the status', (status, code) => {
    const error = toAppError(new HttpException('secret', status));

    expect(error).toMatchObject({ code, status });
    expect(error.message).not.toContain('secret');
  });

  it.each([404, 429])(
    'treats an error of an HTTP client with status %i as an internal error',
    (statusCode) => {
      const upstream = Object.assign(new Error('secret'), { statusCode });

      expect(toAppError(upstream)).toMatchObject({ code: 'INTERNAL_ERROR', status: 500 });
    },
  );

  it.each([
    { code: '23503' },
    { code: '23001' },
    { code: 'SQLITE_CONSTRAINT_FOREIGNKEY' },
    { code: 'SQLITE_CONSTRAINT_TRIGGER', message: 'FOREIGN KEY constraint failed' },
    { driverError: { code: '23503' } },
  ])('treats an untranslated foreign key violation as a conflict: %j', (fault) => {
    expect(toAppError(Object.assign(new Error('No'), fault))).toMatchObject({ code: 'CONFLICT' });
  });

  it.each(['23505', 'SQLITE_CONSTRAINT_UNIQUE', 'SQLITE_CONSTRAINT_PRIMARYKEY', 'SQLITE_CONSTRAINT_ROWID'])(
    'treats an untranslated duplicate as a conflict: %s',
    (code) => {
      const error = toAppError(new QueryFailedError('INSERT secret', [], withCode(code, 'secret')));

      expect(error.code).toBe('CONFLICT');
      expect(error.message).not.toContain('secret');
    },
  );

  it.each(['22021', '22P05'])('treats a text that the database cannot store as invalid: %s', (code) => {
    const error = toAppError(new QueryFailedError('INSERT secret', [], withCode(code, 'secret')));

    expect(error.code).toBe('VALIDATION_ERROR');
    expect(error.message).not.toContain('secret');
  });

  it('treats an error raised by a trigger as an internal error', () => {
    const error = Object.assign(new Error('No'), { code: 'SQLITE_CONSTRAINT_TRIGGER' });

    expect(toAppError(error)).toMatchObject({ code: 'INTERNAL_ERROR' });
  });

  it('treats an aborted request as malformed, not as a lost database', () => {
    const aborted = Object.assign(withCode('ECONNRESET', 'aborted'), { statusCode: 400 });

    expect(toAppError(aborted).code).toBe('MALFORMED_REQUEST');
  });

  it.each([
    new Error('secret'),
    new TypeError('secret'),
    new QueryFailedError('SELECT secret', [], withCode('42P01', 'relation "secret" does not exist')),
    new QueryFailedError('SELECT secret', [], withCode('42703', 'column "secret" does not exist')),
    withCode('SQLITE_ERROR', 'no such table: secret'),
    // Of a policy for rows, which the application has to obey.
    Object.assign(withCode('42501', 'new row violates row-level security policy for table "secret"'), {
      routine: 'ExecWithCheckOptions',
    }),
    withCode('0A000', 'secret'),
    new Error('Query runner already released'),
    withCode('08P01', 'bind message supplies 1 parameters, but prepared statement "secret" requires 2'),
    'secret',
    undefined,
    null,
  ])('masks anything else: %p', (thrown) => {
    const error = toAppError(thrown);

    expect(error.code).toBe('INTERNAL_ERROR');
    expect(error.message).not.toContain('secret');
  });

  it.each([
    withCode('ECONNREFUSED'),
    withCode('57P01'),
    withCode('08006'),
    withCode('53300'),
    withCode('53200'),
    withCode('57P04'),
    withCode('57P05'),
    withCode('25P03'),
    withCode('25P04'),
    withCode('EMFILE'),
    withCode('ENFILE'),
    withCode('EAGAIN'),
    withCode('ENOMEM'),
    withCode('SQLITE_NOMEM'),
    withCode('SQLITE_CORRUPT'),
    withCode('SQLITE_NOTADB'),
    withCode('SQLITE_FULL'),
    withCode('SQLITE_IOERR_WRITE'),
    withCode('SQLITE_READONLY'),
    withCode('SQLITE_CANTOPEN'),
    Object.assign(withCode('42501', 'permission denied for table posts'), { routine: 'aclcheck_error' }),
    Object.assign(withCode('0A000'), { routine: 'RevalidateCachedQuery' }),
    withCode('SQLITE_BUSY'),
    withCode('40001'),
    new Error('Connection terminated unexpectedly'),
    new Error('timeout exceeded when trying to connect'),
    new QueryFailedError('SELECT 1', [], withCode('ECONNRESET')),
    new QueryFailedError('SELECT 1', [], new Error('Connection terminated')),
    new AggregateError([withCode('ECONNREFUSED')]),
  ])('reports an unavailable database: %p', (thrown) => {
    expect(toAppError(thrown).code).toBe('SERVICE_UNAVAILABLE');
  });

  it.each(Object.entries(ERRORS).filter(([, { status }]) => status === 401))(
    'challenges the client with %s (RFC 9110, section 15.5.2)',
    (code) => {
      expect(new AppError(code as ErrorCode, 'x').defaultHeaders).toHaveProperty(
        'www-authenticate',
        expect.stringMatching(/^Bearer\b/),
      );
    },
  );

  it.each(Object.entries(ERRORS).filter(([, { status }]) => status === 429 || status === 503))(
    'sends Retry-After with %s',
    (code) => {
      expect(new AppError(code as ErrorCode, 'x').defaultHeaders).toHaveProperty('retry-after');
    },
  );
});
