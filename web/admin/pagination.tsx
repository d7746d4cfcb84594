import { Button, Stack } from '@mui/material';
import type { ReactNode } from 'react';
import { Pagination, useListPaginationContext } from 'react-admin';

/** The pages of a list with cursors, whose total is unknown. */
export function NextPrevious(): ReactNode {
  const { page, setPage, hasNextPage, hasPreviousPage } = useListPaginationContext();
  return (
    <Stack direction="row" spacing={1} sx={{ justifyContent: 'flex-end', p: 1 }}>
      <Button disabled={!hasPreviousPage} onClick={() => setPage(page - 1)}>
        Previous
      </Button>
      <Button disabled={!hasNextPage} onClick={() => setPage(page + 1)}>
        Next
      </Button>
    </Stack>
  );
}

/** The pages of a list, whose sizes the API allows. */
export const Pages = (): ReactNode => <Pagination rowsPerPageOptions={[20, 50, 100]} />;
