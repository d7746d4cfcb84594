import { Module } from '@nestjs/common';
import {
  MessageBody,
  type OnGatewayConnection,
  SubscribeMessage,
  WebSocketGateway,
} from '@nestjs/websockets';
import { CurrentAccount, Public } from '../../../../src/platform/access/index.js';
import type { Account } from '../../../../src/accounts/account.entity.js';

@WebSocketGateway({ path: '/rooms' })
class RoomsGateway implements OnGatewayConnection {
  /** The global guard checks each message by the request that opened the connection. */
  handleConnection(client: object, request: unknown): void {
    Object.assign(client, { request });
  }

  @Public()
  @SubscribeMessage('echo')
  echo(@MessageBody() text: string): object {
    return { event: 'echo', data: text };
  }

  @SubscribeMessage('whoami')
  whoAmI(@CurrentAccount() account: Account): object {
    return { event: 'whoami', data: account.email };
  }
}

@Module({ providers: [RoomsGateway] })
export class RoomsModule {}
