import MonitorHeart from '@mui/icons-material/MonitorHeart';
import { Alert, Button, Paper, Typography } from '@mui/material';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Title } from 'react-admin';
import { ROOT } from '../shared/api.js';
import type { ConsolePage } from './console-page.js';

interface Failure {
  readonly field: string;
  readonly message: string;
}

/** In milliseconds. */
const REFRESH = 5000;

/** What is wanting is in the details of the error. */
async function check(): Promise<readonly Failure[]> {
  const response = await fetch(`${ROOT}health/ready`);
  if (response.ok) return [];
  const { error } = (await response.json()) as { error: { message: string; details?: Failure[] } };
  return error.details ?? [{ field: 'service', message: error.message }];
}

/** Whether this process is ready for requests. Charts are Grafana's. */
function HealthPage(): ReactNode {
  const { data, error, refetch } = useQuery({
    queryKey: ['health'],
    queryFn: check,
    refetchInterval: REFRESH,
  });
  return (
    <Paper sx={{ p: 2, mt: 2 }}>
      <Title title="Health" />
      <div role="status">
        {error && <Alert severity="error">The service does not respond.</Alert>}
        {!error && data?.length === 0 && <Alert severity="success">Ready for requests.</Alert>}
        {(error ? [] : data)?.map(({ field, message }) => (
          <Alert key={field} severity="error">
            {field} {message}
          </Alert>
        ))}
      </div>
      <Typography sx={{ color: 'text.secondary', my: 2 }}>
        It is checked every 5 seconds, in the process that responds. Charts and alerts are in Grafana and
        Prometheus: deploy/monitoring has both.
      </Typography>
      <Button variant="outlined" onClick={() => void refetch()}>
        Check now
      </Button>
    </Paper>
  );
}

export const HEALTH: ConsolePage = {
  path: '/health',
  title: 'Health',
  icon: <MonitorHeart />,
  page: <HealthPage />,
};
