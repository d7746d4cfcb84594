import { describe, expect, it } from '@jest/globals';
import { Injectable, Module, Scope, type Type } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import type { CallingAccount } from '../http/principal.js';
import { AccountData, OwnedByAccount, type OwnedData } from './account-data.js';

const ACCOUNT = { id: 1 } as CallingAccount;

@Injectable()
@OwnedByAccount()
class Notes implements OwnedData {
  private readonly number = 3;
  readonly counts = { notes: async () => this.number };

  async waysToLogIn(): Promise<number> {
    return this.number - 2;
  }
}

@Injectable({ scope: Scope.REQUEST })
@OwnedByAccount()
class NotesOfRequest implements OwnedData {}

@Injectable()
class Undecorated implements OwnedData {
  readonly counts = { notes: async () => 1 };
}

@Module({
  providers: [
    Notes,
    Undecorated,
    { provide: 'another name', useExisting: Notes },
    { provide: 'nothing', useValue: null },
  ],
})
class NotesModule {}

const start = async (...further: Type<OwnedData>[]): Promise<AccountData> => {
  const builder = Test.createTestingModule({
    imports: [DiscoveryModule, NotesModule],
    providers: [AccountData, ...further],
  });
  const app = await (await builder.compile()).init();
  return app.get(AccountData);
};

describe('what accounts own', () => {
  it('is found once, whatever other names its provider has, and beside providers of any value', async () => {
    const data = await start();
    expect(await data.count('notes', ACCOUNT)).toBe(3);
    await expect(data.requireAnotherWay(ACCOUNT)).rejects.toMatchObject({ code: 'CONFLICT' });
  });

  it('stops the start if its provider depends on a request', async () => {
    await expect(start(NotesOfRequest)).rejects.toThrow(
      'NotesOfRequest has @OwnedByAccount(), so it must not depend on a request',
    );
  });

  it('stops the start if two modules provide it, because it would count twice', async () => {
    await expect(start(Notes)).rejects.toThrow(
      'Notes has @OwnedByAccount(), so only one module may provide it; import that module',
    );
  });
});
