import { defineWords } from '../../../i18n/words.ts'

export const words = defineWords({
  en: {
    noSuchRun: 'No run with this id',
    nearestRuns: 'Runs with a similar id',
    latestRuns: 'The latest runs',
    allRuns: 'All runs',
  },
  ja: {
    noSuchRun: 'この ID の実行はありません',
    nearestRuns: '似た ID の実行',
    latestRuns: '最近の実行',
    allRuns: 'すべての実行',
  },
  ko: {
    noSuchRun: '이 ID의 실행이 없습니다',
    nearestRuns: '비슷한 ID의 실행',
    latestRuns: '최근 실행',
    allRuns: '모든 실행',
  },
})
