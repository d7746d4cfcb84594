import type { PostStatus } from '../../posts/post.entity.js';

/** Words by language; common ones come first and are used more often. */
const LANGUAGES = [
  'the of and to in is that for it with as was on are by this from which be not have an at or but they when all one can water light history question between morning system quiet journey letter garden mountain bridge stone winter almost measure carry window river answer paper number voice machine learn market island forest summer small change point simple world',
  'der die und in den von zu das mit sich des auf für ist im dem nicht ein eine als auch es an werden aus er hat dass sie nach wird bei Straße Frühling Brücke Gärten Übung Wörter möglich größer Fluss Müller schön Träume Käse zwölf Bücher Äpfel König Höhe Mädchen Grüße weiß heißt',
  'de la le et les des en un du une que est pour qui dans a par plus pas au sur ne se ce il été où déjà château forêt être même après très élève français œuvre cœur naïf garçon leçon théâtre hôtel île août',
  'и в не на я быть он с что это по но они мы этот который из у то за свой весь год от так для ты же вода город ночь снег улица письмо книга окно дорога человек время рука жизнь день вопрос работа слово место лицо друг',
  'και το να του η της με που την από για είναι στο ο θα τα σε οι στην ένα δεν μια αυτό πως θάλασσα νησί ουρανός άνθρωπος πόλη δρόμος σπίτι ημέρα φως νερό Σίσυφος λόγος',
  '人 時間 世界 日本 東京 文化 歴史 学校 山 川 海 空 言葉 本 手紙 朝 夜 春 夏 秋 冬 です ます した から まで という ことが できる について ともに',
  'في من على إلى أن هذا التي الذي كان مع عن بعد قبل كل بين يوم ماء مدينة كتاب بيت طريق وقت حياة عالم كلمة صباح مساء',
].map((words) => words.split(' '));

/** Generated text that is the same for the same number, with common and rare words like real text. */
export function generatePost(number: number): { title: string; content: string; status: PostStatus } {
  const random = generator(number + 1);
  const words = LANGUAGES[Math.floor(random() ** 2 * LANGUAGES.length)]!;
  const word = () => words[Math.floor(random() ** 2 * words.length)]!;
  const sentence = (length: number) => Array.from({ length }, word).join(' ');

  const title = `${sentence(3 + Math.floor(random() * 5))} ${number.toString(36)}`;
  const paragraphs = Array.from({ length: 1 + Math.floor(random() * 3) }, () =>
    Array.from(
      { length: 2 + Math.floor(random() * 4) },
      () => `${sentence(6 + Math.floor(random() * 10))}.`,
    ).join(' '),
  );
  return {
    title: title.slice(0, 200),
    content: paragraphs.join('\n\n'),
    status: random() < 0.3 ? 'draft' : 'published',
  };
}

const GIVEN = 'Ada Émile Jürgen Ольга Ελένη 花子 ليلى Grace Zoë Łukasz'.split(' ');
const FAMILY = 'Lovelace Noether Müller Петрова Παπαδάκης 山田 حداد Hopper Ångström Wójcik'.split(' ');

/** Generated names of people, as different as possible. */
export function generateName(number: number): string {
  const given = GIVEN[number % GIVEN.length]!;
  const family = FAMILY[Math.floor(number / GIVEN.length + number) % FAMILY.length]!;
  const round = Math.floor(number / (GIVEN.length * FAMILY.length));
  return round === 0 ? `${given} ${family}` : `${given} ${family} ${round + 1}`;
}

/** Mulberry32: small, fast, and random enough for test data. @returns numbers from 0 up to 1 */
function generator(seed: number): () => number {
  let state = seed * 0x9e3779b9;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
