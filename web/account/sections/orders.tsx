import type { ReactNode } from 'react';
import { Typography } from '@mui/material';
import { api, read, type Schemas } from '../../shared/api.js';
import { parseExactly } from '../../shared/exact-json.js';
import { inWords } from '../../shared/in-words.js';
import { date, Entries } from '../entries.js';
import type { Section } from './section.js';

/** The newest orders of the account, where orders have owners. */
function OrdersSection(): ReactNode {
  return (
    <>
      <Typography sx={{ color: 'text.secondary', mb: 2 }}>The newest 20 orders that you may see.</Typography>
      <Entries
        name="orders"
        load={async () => {
          const options = { params: { query: { limit: 20 } }, parseAs: 'text' } as const;
          return parseExactly(await read(api.GET('/v1/orders', options))) as { data: Schemas['Order'][] };
        }}
        none="There are none."
        entriesOf={({ data }) =>
          data.map(({ id, status, payload, created_at }) => ({
            id,
            name: `Order ${id}`,
            details: `${date(created_at)} · ${status} · ${inWords(payload)}`,
          }))
        }
      />
    </>
  );
}

export const ORDERS: Section = { path: 'orders', title: 'Orders', content: <OrdersSection /> };
