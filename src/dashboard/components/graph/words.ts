import { defineWords } from '../../i18n/words.ts'

export const words = defineWords({
  en: {
    parts: 'Choose a part with Enter or space.',
    ways: 'A way from one part to the next.',
    way: 'From {from} to {to}',
    controls: 'Size of the picture',
    larger: 'Larger',
    smaller: 'Smaller',
    fit: 'Show all of it',
  },
  ja: {
    parts: 'Enter またはスペースで部分を選択します。',
    ways: 'ある部分から次の部分への経路です。',
    way: '{from} から {to} へ',
    controls: '図の大きさ',
    larger: '拡大',
    smaller: '縮小',
    fit: '全体を表示',
  },
  ko: {
    parts: 'Enter 또는 스페이스로 부분을 선택합니다.',
    ways: '한 부분에서 다음 부분으로 가는 길입니다.',
    way: '{from}에서 {to}(으)로',
    controls: '그림 크기',
    larger: '확대',
    smaller: '축소',
    fit: '전체 보기',
  },
})
