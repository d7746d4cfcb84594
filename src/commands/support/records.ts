import { applyDecorators, type Type } from '@nestjs/common';
import { IsInt, IsISO8601, Matches, Max, Min } from 'class-validator';
import { EmailAddressOrEmpty, OneOf, Optional } from '../../common/validation/fields.js';
import { Text } from '../../common/validation/text.js';
import type { Database } from '../../database/database.js';
import type { EventOutbox } from '../../events/index.js';
import { checkPayload } from '../../orders/order.payload.js';
import type { OrderView } from '../../orders/order.view.js';
import { restoreOrders } from '../../orders/order-batch.js';
import { POST_STATUSES, type PostStatus } from '../../posts/post.entity.js';
import { restorePosts } from '../../posts/post-batch.js';
import type { PostView } from '../../posts/post.view.js';
import { FIRST_USER_ID } from '../../users/user.entity.js';
import type { UserView } from '../../users/user.view.js';
import { restoreUsers } from '../../users/user-batch.js';

const Id = (): PropertyDecorator => applyDecorators(IsInt(), Min(1), Max(Number.MAX_SAFE_INTEGER));

const Timestamp = (): PropertyDecorator =>
  applyDecorators(
    IsISO8601({ strict: true }),
    Matches(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/, {
      message: '$property must be a time such as 2026-11-21T08:00:00.000Z',
    }),
  );

/** What a line of `npm run export` contains. The rules are those of stored rows: an update may empty a content. */
export class StoredRecord {
  @Id()
  readonly id!: number;

  @Timestamp()
  readonly created_at!: string;
}

class StoredUser extends StoredRecord implements Record<keyof UserView, unknown> {
  @Text({ min: 1, max: 150 })
  readonly name!: string;

  @EmailAddressOrEmpty()
  readonly email!: string;

  @Timestamp()
  readonly updated_at!: string;
}

export class StoredPost extends StoredRecord implements Record<keyof PostView, unknown> {
  @Text({ min: 1, max: 200 })
  readonly title!: string;

  @Text()
  readonly content!: string;

  @Id()
  readonly author_id!: number;

  @OneOf(POST_STATUSES)
  readonly status!: PostStatus;

  @Timestamp()
  readonly updated_at!: string;

  @Optional()
  @Text()
  readonly source?: string | null;
}

class StoredOrder extends StoredRecord implements Record<keyof OrderView, unknown> {
  @OneOf(['created'])
  readonly status!: 'created';

  /** JSON text. */
  @Text()
  readonly payload!: string;
}

interface Rules {
  readonly table: string;
  readonly input: Type<StoredRecord>;
  /** The condition of rows that an empty database does not have. */
  readonly isForeign: string;
  /** @param line the text of the line */
  readonly prepare: (fields: Record<string, unknown>, line: string) => object;
  readonly insert: (database: Database, records: readonly any[], events: EventOutbox) => Promise<void>;
}

/** The member `kind` of a line. */
export type RecordKind = 'user' | 'post' | 'order';

export const RECORDS: Readonly<Record<RecordKind, Rules>> = {
  user: {
    table: 'users',
    input: StoredUser,
    isForeign: `id <> ${FIRST_USER_ID}`,
    // REST writes the ids of users as text.
    prepare: ({ id, ...fields }) => ({
      ...fields,
      id: typeof id === 'string' && /^[1-9]\d*$/.test(id) ? Number(id) : id,
    }),
    insert: restoreUsers,
  },
  post: {
    table: 'posts',
    input: StoredPost,
    isForeign: 'TRUE',
    prepare: (fields) => fields,
    insert: restorePosts,
  },
  order: {
    table: 'orders',
    input: StoredOrder,
    isForeign: 'TRUE',
    prepare: (fields, line) => ({ ...fields, payload: payloadText(fields['payload'], line) }),
    insert: restoreOrders,
  },
};

/** The text of the payload as it stands at the end of the line, so that its numbers are not rounded. */
function payloadText(payload: unknown, line: string): string {
  const { text } = checkPayload(payload);
  const raw = /,"payload":(?<text>\{.*\})\}\s*$/s.exec(line)?.groups?.['text'];
  try {
    return raw !== undefined && JSON.stringify(JSON.parse(raw)) === text ? raw : text;
  } catch {
    return text;
  }
}
