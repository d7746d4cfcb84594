import { defineComponent, h, onMounted, watch, watchEffect } from 'vue';
import { useData, useRoute, type Theme } from 'vitepress';
import DefaultTheme from 'vitepress/theme-without-fonts';
import { markCurrent, OBSERVED, repairSearch } from './repair.ts';
import './style.css';

/** How much a section counts in the search: reasons come after instructions, and a code of an error after its subject. */
const weightOf = (id: string): number =>
  id.includes('/decisions/') ? 0.05 : id.includes('/errors#') ? 0.3 : 1;

/** Words of questions, which a section need not have. */
const STOP_WORDS = new Set(
  'a an and are can do does for how i in is it my of on or the through to what when where which with'.split(
    ' ',
  ),
);

const Layout = defineComponent({
  setup() {
    const { isDark } = useData();
    const route = useRoute();
    onMounted(() => {
      // VitePress sets it only when a page is loaded.
      watchEffect(() => document.documentElement.classList.toggle('dark', isDark.value));
      watch(() => route.path, markCurrent, { immediate: true, flush: 'post' });
      new MutationObserver(repairSearch).observe(document.body, OBSERVED);
    });
    // The link of the header that skips it leads to `main`.
    return () => h(DefaultTheme.Layout, null, { 'doc-before': () => h('div', { id: 'main' }) });
  },
});

export default {
  extends: DefaultTheme,
  Layout,
  enhanceApp({ siteData }) {
    // Not in the configuration: VitePress would pass functions by `eval`, which the policy of the pages forbids.
    const { searchOptions } = siteData.value.themeConfig.search.options.miniSearch;
    searchOptions.boostDocument = weightOf;
    // Short words would be taken for others, such as "posts" for "post".
    searchOptions.fuzzy = (term: string) => (term.length > 5 ? 0.15 : false);
    searchOptions.processTerm = (term: string) => {
      const word = term.toLowerCase();
      return STOP_WORDS.has(word) ? null : word;
    };
  },
} satisfies Theme;
