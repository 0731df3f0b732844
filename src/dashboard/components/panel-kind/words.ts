import { defineWords } from '../../i18n/words.ts'

export const words = defineWords({
  en: {
    ai: 'AI',
    text: 'Text',
    folder: 'Folder',
    table: 'Table',
    chart: 'Chart',
    diagram: 'Diagram',
  },
  ja: {
    ai: 'AI',
    text: 'テキスト',
    folder: 'フォルダー',
    table: '表',
    chart: 'チャート',
    diagram: '図',
  },
  ko: {
    ai: 'AI',
    text: '텍스트',
    folder: '폴더',
    table: '표',
    chart: '차트',
    diagram: '다이어그램',
  },
})
