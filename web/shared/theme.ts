import type { Theme, ThemeOptions } from '@mui/material/styles';

/** At least the size of a finger on a phone. */
const touchable = { '@media (max-width: 600px)': { minHeight: 44 } };

const COMMON = {
  shape: { borderRadius: 8 },
  typography: {
    fontFamily: "system-ui, 'Segoe UI', Roboto, 'Helvetica Neue', 'Noto Sans', 'Liberation Sans', sans-serif",
    h1: { fontSize: '1.75rem', fontWeight: 650 },
    h2: { fontSize: '1.25rem', fontWeight: 650 },
    h3: { fontSize: '1rem', fontWeight: 650 },
    button: { textTransform: 'none', fontWeight: 600 },
  },
  components: {
    MuiButton: { styleOverrides: { root: { ...touchable, whiteSpace: 'nowrap' } } },
    // The edges of what scrolls have the colour of the paper.
    MuiPaper: { styleOverrides: { root: { backgroundImage: 'none' } } },
    MuiCssBaseline: {
      styleOverrides: (theme: Theme) => ({ 'a:where(:not([class]))': { color: theme.palette.primary.main } }),
    },
    MuiCircularProgress: { defaultProps: { 'aria-label': 'Loading' } },
    // It would scroll for a fraction of a pixel, and the keyboard could not.
    MuiAlert: { styleOverrides: { message: { flex: 1, overflow: 'visible' } } },
  },
} satisfies ThemeOptions;

/** A table that scrolls where the screen is too narrow, with shadows at the edges behind which it goes on. */
export const scrolling = ({ palette }: Theme) => {
  const cover = `${palette.background.paper} 40%, transparent`;
  const shadow = `${palette.mode === 'dark' ? 'rgba(230, 236, 245, 0.3)' : 'rgba(24, 32, 48, 0.25)'}, transparent`;
  return {
    overflowX: 'auto',
    background: [
      `linear-gradient(90deg, ${cover}) left / 2rem 100% no-repeat local`,
      `linear-gradient(-90deg, ${cover}) right / 2rem 100% no-repeat local`,
      `linear-gradient(90deg, ${shadow}) left / 0.75rem 100% no-repeat`,
      `linear-gradient(-90deg, ${shadow}) right / 0.75rem 100% no-repeat`,
    ].join(', '),
  };
};

/** The colours are those of the other pages. */
export const LIGHT: ThemeOptions = {
  ...COMMON,
  palette: {
    mode: 'light',
    primary: { main: '#2a44cb' },
    secondary: { main: '#2a44cb' },
    warning: { main: '#8f5200' },
    background: { default: '#ffffff', paper: '#ffffff' },
  },
};

export const DARK: ThemeOptions = {
  ...COMMON,
  palette: {
    mode: 'dark',
    primary: { main: '#99b3ff' },
    secondary: { main: '#99b3ff' },
    background: { default: '#12151c', paper: '#1a1e27' },
  },
};
