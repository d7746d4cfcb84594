// What the reference changes in Swagger UI, at its documented plugin points.

/** Swagger UI looks for the phrase in tags alone; here every word has to be in the tag, the path or the summary. */
export const SearchPlugin = () => ({
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

/** The whole page without the dialogs for credentials, because the login is in the header, and without servers. */
export const LayoutPlugin = ({ React: { createElement } }) => ({
  components: {
    PageLayout: ({ getComponent, specSelectors, errSelectors }) => {
      const isLoading = !specSelectors.specStr() && errSelectors.allErrors().size === 0;
      if (isLoading) return createElement('p', { className: 'swagger-ui' }, 'Loading …');
      const parts = ['errors', 'InfoContainer', 'FilterContainer', 'operations', 'Models'].map((name) =>
        createElement('div', { key: name, className: 'wrapper' }, createElement(getComponent(name, true))),
      );
      return createElement(
        'div',
        { className: 'swagger-ui' },
        createElement(getComponent('SvgAssets')),
        parts,
      );
    },
    authorizeOperationBtn: () =>
      createElement(
        'span',
        { className: 'locked', role: 'img', 'aria-label': 'Requires an account' },
        createElement(
          'svg',
          { width: 16, height: 16, viewBox: '0 0 20 20' },
          createElement('path', { d: LOCK }),
        ),
      ),
    // A link in a button cannot be reached by keyboard. The address follows the button.
    DeepLink: ({ text }) => createElement('span', {}, text),
  },
});

const LOCK = 'M15 8h-1V6a4 4 0 1 0-8 0v2H5a1 1 0 0 0-1 1v8h12V9a1 1 0 0 0-1-1zm-7 0V6a2 2 0 1 1 4 0v2z';
