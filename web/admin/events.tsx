import Stream from '@mui/icons-material/Stream';
import {
  Autocomplete,
  Chip,
  List,
  ListItem,
  ListItemText,
  Paper,
  Stack,
  TextField,
  Typography,
} from '@mui/material';
import { type ReactNode, useEffect, useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { Title } from 'react-admin';
import { ROOT, type Schemas } from '../shared/api.js';
import { parseExactly } from '../shared/exact-json.js';
import { inWords } from '../shared/in-words.js';
import type { ConsolePage } from './console-page.js';
import { loadEventTypes } from './event-types.js';

type Event = Schemas['CloudEventEnvelope'] & { data?: unknown };

const NONE: string[] = [];

/** Older events leave the page. */
const MAX_SHOWN = 200;

/** When the page connects again after an error, in milliseconds. */
const RETRY = 5000;

/** After how many errors in a row the page goes on with the next event instead of the last one. */
const MAX_FAILURES = 10;

/** A live tail of the event stream. */
function EventsPage(): ReactNode {
  const { data: allTypes = NONE } = useQuery({
    queryKey: ['event-types'],
    queryFn: loadEventTypes,
    retry: true,
  });
  const [types, setTypes] = useState<string[]>([]);
  const [isLive, setLive] = useState(false);
  const [events, setEvents] = useState<readonly Event[]>([]);

  useEffect(() => {
    if (allTypes.length > 0)
      return follow(types, allTypes, {
        onLive: setLive,
        onEvent: (event) => setEvents((shown) => [event, ...shown].slice(0, MAX_SHOWN)),
      });
    return undefined;
  }, [types, allTypes]);

  const shown = events.filter(({ type }) => types.length === 0 || types.includes(type));
  return (
    <Paper sx={{ p: 2, mt: 2 }}>
      <Title title="Events" />
      <Stack direction="row" spacing={2} sx={{ alignItems: 'center', mb: 1, flexWrap: 'wrap' }}>
        <Autocomplete
          multiple
          size="small"
          options={allTypes}
          value={types}
          onChange={(_, value) => setTypes(value)}
          renderInput={(props) => <TextField {...props} label="Types" helperText="Empty for all" />}
          sx={{ minWidth: 280 }}
        />
        <Chip
          label={isLive ? 'Live' : 'Connecting'}
          color={isLive ? 'success' : 'warning'}
          size="small"
          role="status"
        />
      </Stack>
      {shown.length === 0 && (
        <Typography sx={{ color: 'text.secondary' }}>New events appear here as they happen.</Typography>
      )}
      <List dense aria-label="Events">
        {shown.map(({ id, type, subject, time, data }) => (
          <ListItem key={id} divider disableGutters>
            <ListItemText
              primary={`${type} · ${subject}`}
              secondary={`${new Date(time).toLocaleTimeString()} · ${inWords(data, 300)}`}
              sx={{ overflowWrap: 'anywhere' }}
            />
          </ListItem>
        ))}
      </List>
    </Paper>
  );
}

interface Listener {
  readonly onLive: (isLive: boolean) => void;
  readonly onEvent: (event: Event) => void;
}

/**
 * Follows the stream. The browser reconnects by itself right after the last event, except after a response that is an
 * error, such as that of a proxy during a restart.
 *
 * @returns what ends it
 */
function follow(types: readonly string[], all: readonly string[], { onLive, onEvent }: Listener): () => void {
  let source: EventSource;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let last = '';
  let failures = 0;
  const open = () => {
    const query = new URLSearchParams();
    if (types.length > 0) query.set('types', types.join(','));
    // An event that has been purged meanwhile is no place to go on from.
    if (last !== '' && failures < MAX_FAILURES) query.set('last_event_id', last);
    source = new EventSource(`${ROOT}v1/events/stream?${query}`);
    source.addEventListener('open', () => {
      failures = 0;
      onLive(true);
    });
    source.addEventListener('error', () => {
      onLive(false);
      if (source.readyState !== EventSource.CLOSED) return;
      failures++;
      timer = setTimeout(open, RETRY);
    });
    // Each type of event is a type of the browser's event, too: there is none for all.
    for (const type of all)
      source.addEventListener(type, ({ data, lastEventId }: MessageEvent<string>) => {
        last = lastEventId;
        onEvent(parseExactly(data) as Event);
      });
  };
  open();
  return () => {
    clearTimeout(timer);
    source.close();
  };
}

export const EVENTS: ConsolePage = {
  path: '/events',
  title: 'Events',
  icon: <Stream />,
  page: <EventsPage />,
};
