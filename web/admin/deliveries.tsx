import {
  Box,
  Button,
  Chip,
  MenuItem,
  Paper,
  Stack,
  Table,
  TableBody,
  TableCell,
  TableHead,
  TableRow,
  TextField,
  Typography,
} from '@mui/material';
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useRecordContext } from 'react-admin';
import { api, messageOf, read, type Schemas } from '../shared/api.js';
import { useDialogs } from '../shared/dialogs.js';
import { Failure } from '../shared/form.js';
import { scrolling } from '../shared/theme.js';

type Delivery = Schemas['WebhookDelivery'];

const STATUSES = ['pending', 'delivered', 'failed'] as const;
const COLORS = { pending: 'warning', delivered: 'success', failed: 'error' } as const;

/** In milliseconds. */
const REFRESH = 5000;

/** In a list, there is a call for each row. */
const REFRESH_IN_LIST = 30_000;

const time = (text: string): string =>
  new Date(text).toLocaleString([], { dateStyle: 'short', timeStyle: 'medium' });

/** The deliveries of a webhook, newest first, which are read again while the page is open. */
export function Deliveries(): ReactNode {
  const webhook = useRecordContext<Schemas['Webhook']>();
  const { run } = useDialogs();
  const [status, setStatus] = useState('');
  const id = webhook?.id ?? 0;
  const { data, error, hasNextPage, fetchNextPage, refetch } = useInfiniteQuery({
    queryKey: ['deliveries', id, status],
    queryFn: ({ pageParam }) =>
      read(
        api.GET('/v1/webhooks/{id}/deliveries', {
          params: {
            path: { id },
            query: { status: status as Delivery['status'], cursor: pageParam, limit: 20 },
          },
        }),
      ),
    initialPageParam: '',
    getNextPageParam: ({ next_cursor: next, has_next: hasNext }) => (hasNext ? next : undefined),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH,
    enabled: id > 0,
  });

  const redeliver = (delivery: number) =>
    run('The event is delivered again.', async () => {
      const params = { path: { id, delivery } };
      await read(api.POST('/v1/webhooks/{id}/deliveries/{delivery}/redeliver', { params }));
      await refetch();
    });

  const deliveries = data?.pages.flatMap((page) => page.data) ?? [];
  return (
    <Paper component="section" aria-labelledby="deliveries" sx={{ mt: 3, p: 2 }}>
      <Stack direction="row" sx={{ justifyContent: 'space-between', alignItems: 'center', mb: 1 }}>
        <Typography variant="h2" id="deliveries">
          Deliveries
        </Typography>
        <TextField
          select
          size="small"
          label="Status"
          value={status}
          onChange={({ target }) => setStatus(target.value)}
          sx={{ width: 140 }}
        >
          <MenuItem value="">All</MenuItem>
          {STATUSES.map((each) => (
            <MenuItem key={each} value={each}>
              {each}
            </MenuItem>
          ))}
        </TextField>
      </Stack>
      <Failure message={error ? messageOf(error) : undefined} />
      {deliveries.length === 0 ? (
        data && <Typography sx={{ color: 'text.secondary' }}>There are none.</Typography>
      ) : (
        <Box sx={scrolling}>
          <Table size="small">
            <TableHead>
              <TableRow>
                {['Time', 'Event', 'Status', 'Attempts', 'Response'].map((title) => (
                  <TableCell key={title}>{title}</TableCell>
                ))}
                <TableCell align="right">Action</TableCell>
              </TableRow>
            </TableHead>
            <TableBody>
              {deliveries.map((delivery) => (
                <Row key={delivery.id} delivery={delivery} redeliver={() => void redeliver(delivery.id)} />
              ))}
            </TableBody>
          </Table>
        </Box>
      )}
      {hasNextPage && <Button onClick={() => void fetchNextPage()}>More</Button>}
    </Paper>
  );
}

function Row({ delivery, redeliver }: { delivery: Delivery; redeliver: () => void }): ReactNode {
  const { id, created_at, type, status, attempts, next_attempt_at, response_status, error } = delivery;
  return (
    <TableRow>
      <TableCell sx={{ whiteSpace: 'nowrap' }}>{time(created_at)}</TableCell>
      <TableCell>{type}</TableCell>
      <TableCell>
        <Status value={status} />
      </TableCell>
      <TableCell>
        {attempts}
        {next_attempt_at !== null && (
          <Typography
            variant="caption"
            component="div"
            sx={{ color: 'text.secondary', whiteSpace: 'nowrap' }}
          >
            next {time(next_attempt_at)}
          </Typography>
        )}
      </TableCell>
      <TableCell sx={{ overflowWrap: 'anywhere' }}>{response_status ?? error ?? '–'}</TableCell>
      <TableCell align="right">
        <Button size="small" onClick={redeliver} aria-label={`Redeliver ${id}`}>
          Redeliver
        </Button>
      </TableCell>
    </TableRow>
  );
}

const Status = ({ value }: { value: Delivery['status'] }): ReactNode => (
  <Chip size="small" variant="outlined" label={value} color={COLORS[value]} />
);

/** How the last delivery of a webhook has gone, so that one that fails is seen in the list. */
export function LastDelivery({ webhook }: { webhook: number }): ReactNode {
  const { data, error } = useQuery({
    queryKey: ['deliveries', webhook, 'last'],
    queryFn: () =>
      read(
        api.GET('/v1/webhooks/{id}/deliveries', { params: { path: { id: webhook }, query: { limit: 1 } } }),
      ),
    refetchInterval: REFRESH_IN_LIST,
  });
  if (error) return 'unknown';
  const last = data?.data[0];
  if (last === undefined) return '–';
  const { status, response_status } = last;
  return (
    <Stack direction="row" spacing={1} sx={{ alignItems: 'center' }}>
      <Status value={status} />
      {status !== 'delivered' && <span>{response_status}</span>}
    </Stack>
  );
}
