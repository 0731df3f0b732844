import { defineWords } from '../../i18n/words.ts'

export const words = defineWords({
  en: {
    parts: 'Press Enter or Space to select a node.',
    ways: 'A connection between two nodes.',
    way: 'From {from} to {to}',
    controls: 'Zoom',
    larger: 'Zoom in',
    smaller: 'Zoom out',
    fit: 'Fit to view',
  },
  ja: {
    parts: 'Enter または Space キーでノードを選択します。',
    ways: '2 つのノードをつなぐ線です。',
    way: '{from} から {to} へ',
    controls: '表示倍率',
    larger: '拡大',
    smaller: '縮小',
    fit: '全体を表示',
  },
  ko: {
    parts: 'Enter 또는 Space 키로 노드를 선택합니다.',
    ways: '두 노드를 잇는 연결입니다.',
    way: '{from} → {to}',
    controls: '확대/축소',
    larger: '확대',
    smaller: '축소',
    fit: '전체 보기',
  },
})
