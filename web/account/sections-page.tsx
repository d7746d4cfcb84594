import { Box, List, ListItemButton, ListItemText, MenuItem, TextField, Typography } from '@mui/material';
import { type ReactNode, useEffect, useRef } from 'react';
import { Link, Navigate, Route, Routes, useLocation, useNavigate } from 'react-router';
import { ROOT } from '../shared/api.js';
import { useAccount } from '../shared/session.js';
import { useTitle } from './narrow-page.js';
import { API_KEYS } from './sections/api-keys.js';
import { DELETION } from './sections/deletion.js';
import { EMAIL } from './sections/email.js';
import { IDENTITIES } from './sections/identities.js';
import { LOGINS } from './sections/logins.js';
import { ORDERS } from './sections/orders.js';
import { PASSKEYS } from './sections/passkeys.js';
import { PASSWORD } from './sections/password.js';
import { PROFILE } from './sections/profile.js';
import { TWO_STEP } from './sections/two-step.js';
import type { Section } from './sections/section.js';

/** The sections in the order of their list. */
const SECTIONS: readonly Section[] = [
  PROFILE,
  EMAIL,
  PASSWORD,
  TWO_STEP,
  PASSKEYS,
  API_KEYS,
  LOGINS,
  IDENTITIES,
  ORDERS,
  DELETION,
];

/** The account of the session, with a list of sections beside the one that is open. */
export function SectionsPage(): ReactNode {
  const account = useAccount();
  const name = useLocation().pathname.slice(1);
  const navigate = useNavigate();
  const current = SECTIONS.find(({ path }) => path === name);
  useTitle(current?.title ?? 'Your account');
  const heading = useRef<HTMLSpanElement>(null);
  const shown = useRef(name);
  useEffect(() => {
    // The keyboard goes on in the section that a link has opened.
    if (shown.current !== name) heading.current?.focus();
    shown.current = name;
  }, [name]);
  return (
    <Box sx={{ maxWidth: 1072, mx: 'auto', px: { xs: 2, sm: 3 }, py: 3 }}>
      <Typography variant="h1">{account.name}</Typography>
      <Typography sx={{ color: 'text.secondary', mb: 2, overflowWrap: 'anywhere' }}>
        {account.email}
        {account.is_staff && (
          <>
            {' · '}
            <a href={`${ROOT}admin/`}>Console for staff</a>
          </>
        )}
      </Typography>
      <Box sx={{ display: 'flex', gap: 4, flexDirection: { xs: 'column', sm: 'row' } }}>
        <List
          component="nav"
          aria-label="Sections"
          dense
          sx={{ display: { xs: 'none', sm: 'block' }, flex: '0 0 190px' }}
        >
          {SECTIONS.map(({ path, title }) => (
            <ListItemButton
              key={path}
              component={Link}
              to={`/${path}`}
              selected={path === name}
              aria-current={path === name ? 'page' : undefined}
              sx={{ borderRadius: 1 }}
            >
              <ListItemText primary={title} />
            </ListItemButton>
          ))}
        </List>
        <TextField
          select
          label="Section"
          size="small"
          value={current?.path ?? ''}
          onChange={({ target }) => void navigate(`/${target.value}`)}
          sx={{ display: { sm: 'none' } }}
        >
          {SECTIONS.map(({ path, title }) => (
            <MenuItem key={path} value={path}>
              {title}
            </MenuItem>
          ))}
        </TextField>
        <Box sx={{ flex: 1, minWidth: 0 }}>
          <Routes>
            {SECTIONS.map(({ path, title, content }) => (
              <Route
                key={path}
                path={path}
                element={
                  <section aria-labelledby="section-title">
                    <Typography
                      variant="h2"
                      id="section-title"
                      ref={heading}
                      tabIndex={-1}
                      sx={{ mb: 2, outline: 'none' }}
                    >
                      {title}
                    </Typography>
                    {content}
                  </section>
                }
              />
            ))}
            <Route path="*" element={<Navigate to="/profile" replace />} />
          </Routes>
        </Box>
      </Box>
    </Box>
  );
}
