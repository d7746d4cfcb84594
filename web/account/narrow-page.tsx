import { Container, Typography } from '@mui/material';
import { type ReactNode, useEffect } from 'react';
import { SERVICE } from '../shared/settings.js';

interface Props {
  readonly title: string;
  readonly text?: string | undefined;
  readonly children?: ReactNode;
}

/** A page with one task. */
export function NarrowPage({ title, text, children }: Props): ReactNode {
  useTitle(title);
  return (
    <Container maxWidth="xs" sx={{ py: 4, mx: 'auto' }}>
      <Typography variant="h1" sx={{ mb: 2, textWrap: 'wrap' }}>
        {title}
      </Typography>
      {text !== undefined && <Typography sx={{ mb: 2 }}>{text}</Typography>}
      {children}
    </Container>
  );
}

export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · ${SERVICE}`;
  }, [title]);
}
