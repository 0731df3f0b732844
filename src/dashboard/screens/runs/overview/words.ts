import { defineWords } from '../../../i18n/words.ts'

export const words = defineWords({
  en: {
    refusedCalls: 'Denied or failed calls',
    changedFiles: 'Changed files',
    lookAtChanges: 'View diffs and undo',
    openQuestions: 'Waiting for you',
  },
  ja: {
    refusedCalls: '拒否または失敗した呼び出し',
    changedFiles: '変更されたファイル',
    lookAtChanges: '差分を見て元に戻す',
    openQuestions: '承認待ち',
  },
  ko: {
    refusedCalls: '거부되거나 실패한 호출',
    changedFiles: '변경된 파일',
    lookAtChanges: '차이 보기 및 되돌리기',
    openQuestions: '승인 대기',
  },
})
