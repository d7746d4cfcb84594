import { beforeAll, expect, it } from '@jest/globals';
import { Controller, Get, Module } from '@nestjs/common';
import { Query, Resolver } from '@nestjs/graphql';
import { ApiOperation } from '@nestjs/swagger';
import { bearer } from '../../support/accounts.js';
import { onEach } from '../../support/on-each.js';
import { Roles } from './roles/roles.guard.js';
import { RolesModule } from './roles/roles.module.js';

@Controller({ path: 'drafts-to-review', version: '1' })
class ReviewsController {
  @Get()
  @Roles(['reviewer', 'editor'])
  @ApiOperation({ summary: 'For reviewers' })
  list(): string[] {
    return [];
  }
}

@Resolver()
class ReviewsResolver {
  @Query(() => Boolean)
  @Roles(['reviewer'])
  mayReview(): boolean {
    return true;
  }
}

@Module({ imports: [RolesModule], controllers: [ReviewsController], providers: [ReviewsResolver] })
class ReviewsModule {}

onEach('a role of one’s own', { modules: [ReviewsModule] }, ({ api }) => {
  let staff: Record<string, string>;
  let ada: Record<string, string>;
  let path: string;
  beforeAll(async () => {
    for (const name of ['staff', 'ada']) await api.accounts.register(`${name}@example.com`);
    await api.accounts.admin().setStaff('staff@example.com', true);
    staff = bearer((await api.accounts.login('staff@example.com')).access);
    ada = bearer((await api.accounts.login('ada@example.com')).access);
    const { id } = (await api.get('/auth/me/', ada)).body;
    path = `/v1/accounts/${id}/roles`;
  });

  const review = () => api.get('/v1/drafts-to-review', ada);
  const give = (roles: unknown, headers: Record<string, string>, url = path) =>
    api.send({ method: 'PUT', url, headers, body: { roles } });
  const codeOf = async () =>
    (await api.graphql('{ mayReview }', {}, ada)).body.errors?.[0].extensions.code as unknown;

  it('is given and taken by staff alone, and opens handlers over REST and GraphQL', async () => {
    expect(await api.get('/v1/drafts-to-review')).toBeError('UNAUTHENTICATED');
    expect(await review()).toBeError('FORBIDDEN');
    expect(await codeOf()).toBe('FORBIDDEN');
    expect(await give(['reviewer'], ada)).toBeError('FORBIDDEN');

    expect(await give(['reviewer', 'editor'], staff)).toHaveStatus(204);
    expect(await give(['reviewer'], staff)).toHaveStatus(204);
    expect(await review()).toHaveStatus(200);
    expect((await api.graphql('{ mayReview }', {}, ada)).body.data).toEqual({ mayReview: true });

    expect(await give([], staff)).toHaveStatus(204);
    expect(await review()).toBeError('FORBIDDEN');
  });

  it('is one of the list, of an account that exists', async () => {
    for (const roles of [['admin'], ['editor', 'editor'], 'editor', undefined])
      expect(await give(roles, staff)).toBeError('VALIDATION_ERROR', ['roles']);
    expect(await give(['editor'], staff, '/v1/accounts/999999/roles')).toBeError('NOT_FOUND');
  });

  it('is deleted with the account', async () => {
    await give(['reviewer'], staff);
    await api.accounts.admin().delete('ada@example.com');

    expect(await review()).toBeError('TOKEN_NOT_VALID');
  });
});
