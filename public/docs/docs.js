/* global SwaggerUIBundle */

const dark = window.matchMedia('(prefers-color-scheme: dark)');
const applyTheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', applyTheme);
applyTheme();

/** Swagger UI looks for the phrase in tags alone; here every word has to be in the tag, the path or the summary. */
const SearchPlugin = () => ({
  fn: {
    opsFilter: (taggedOperations, phrase) => {
      const words = phrase.toLowerCase().split(/\s+/).filter(Boolean);
      const matches = (tag) => (operation) => {
        const summary = operation.getIn(['operation', 'summary'], '');
        const text = [tag, operation.get('method'), operation.get('path'), summary].join(' ').toLowerCase();
        return words.every((word) => text.includes(word));
      };
      return taggedOperations
        .map((tagged, tag) => tagged.update('operations', (operations) => operations.filter(matches(tag))))
        .filter((tagged) => tagged.get('operations').size > 0);
    },
  },
});

const ui = SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  displayRequestDuration: true,
  tryItOutEnabled: true,
  persistAuthorization: true,
  filter: true,
  plugins: [SearchPlugin],
  validatorUrl: null,
  onComplete: () => {
    const search = document.querySelector('.operation-filter-input');
    search.placeholder = 'Search operations';
    search.setAttribute('aria-label', 'Search operations');
    window.setUpLogin(ui);
  },
});
